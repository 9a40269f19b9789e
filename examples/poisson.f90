! Solve -div(grad u) = 1 in the unit cube, with u = 0 on its sides, on 64^3 cells:
!
!     gfortran -o poisson $(pkg-config --variable=includedir hpgmg)/hpgmg.f90 examples/poisson.f90 \
!       $(pkg-config --libs hpgmg) && ./poisson
program poisson
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use hpgmg
  implicit none
  integer, parameter :: n = 64
  type(hpgmg_solver_t) :: solver
  type(hpgmg_info_t) :: info
  real(real64), target :: one = 1
  real(real64), allocatable, target :: u(:, :, :)
  integer :: status
  allocate(u(n, n, n))
  status = hpgmg_create(hpgmg_options(), solver, words='--cells=64x64x64 --rtol=1e-10')
  if (status == HPGMG_OK) status = hpgmg_solve(solver, hpgmg_array(one), hpgmg_array(u), info)
  if (status == HPGMG_OK) then
    print '(a, f12.10, a, i0, a, es7.1)', 'u next to the middle: ', u(n/2 + 1, n/2 + 1, n/2 + 1), &
      ' after ', info%cycles, ' cycles, residual ', info%residual
  else
    write(error_unit, '(3a)') hpgmg_status_text(status), ': ', hpgmg_error(solver)
  end if
  call hpgmg_destroy(solver)
  if (status /= HPGMG_OK) stop 1
end program poisson
