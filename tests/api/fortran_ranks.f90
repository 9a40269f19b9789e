! fortran_ranks: solve with variable coefficients through the Fortran module, on any number of ranks
! with one to three boxes each. Prints a line per solve, the same for any ranks, with a checksum of
! the bits of u:
!   faces      beta on faces, and alpha; communicator of the module mpi
!   mpi_f08    the same with a communicator of the module mpi_f08
!   cells      beta in cells
!   guess      the same again, from the solution
!   sides      then u = 2 on the sides normal to j
! Then checks that errors have a message, which the log function gets too.
module fortran_log
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use hpgmg, only: hpgmg_string
  implicit none
contains
  subroutine count_message(data, text) bind(c)
    type(c_ptr), value :: data, text
    integer, pointer :: n
    call c_f_pointer(data, n)
    if (index(hpgmg_string(text), '--smoother') > 0) n = n + 1
  end subroutine count_message
end module fortran_log

program fortran_ranks
  use, intrinsic :: iso_c_binding, only: c_funloc, c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use fortran_log, only: count_message
  use hpgmg
  use mpi_f08
  implicit none
  integer, parameter :: cells(3) = [24, 20, 16]
  character(*), parameter :: words = '--operator=7pt --boundary=neumann,dirichlet,periodic ' // &
    '--rtol=1e-9 '

  character(*), parameter :: helmholtz = '--equation=helmholtz'

  type :: part_t
    type(hpgmg_box_t) :: box
    real(real64), dimension(:, :, :), allocatable :: u, f, alpha, beta, beta_i, beta_j, beta_k
  end type part_t
  type(part_t), allocatable, target :: part(:)
  type(hpgmg_options_t) :: options
  type(hpgmg_solver_t) :: solver
  integer :: rank, n_ranks, provided
  integer, target :: messages = 0
  real(real64), target :: two = 2.0_real64, zero = 0.0_real64
  integer :: b

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  call cut()

  options = hpgmg_options()
  options%cells = cells
  options%varying_alpha = 1
  options%log = c_funloc(count_message)
  options%log_data = c_loc(messages)
  call check(hpgmg_create(options, solver, words // helmholtz, part%box, integer_world()))
  call set_faces()
  call solve('faces')
  call hpgmg_destroy(solver)

  call check(hpgmg_create(options, solver, words // helmholtz, part%box, MPI_COMM_WORLD%mpi_val))
  call set_faces()
  call solve('mpi_f08')
  call hpgmg_destroy(solver)

  options%varying_alpha = 0
  options%guess = 1
  call check(hpgmg_create(options, solver, words, part%box, MPI_COMM_WORLD%mpi_val))
  call check(hpgmg_set_coefficients(solver, cell_beta=arrays('beta')))
  call fill_u()
  call solve('cells')
  call solve('guess')
  if (hpgmg_solve(solver, arrays('f'), arrays('ghosts')) /= HPGMG_BAD_ARGUMENT) &
    error stop 'an array with ghosts is accepted'
  if (index(hpgmg_error(solver), 'u has 26x22x') == 0) error stop 'the error does not name the shape'
  messages = 0
  call check(hpgmg_set_sides(solver, low_j=[(hpgmg_array(two), b = 1, size(part))], &
    high_j=[(hpgmg_array(two), b = 1, size(part))]))
  call solve('sides')
  call check(hpgmg_set_coefficients(solver, cell_beta=arrays('beta'), &
    mask=[(hpgmg_array(zero), b = 1, size(part))]))
  call fill_u()
  call check(hpgmg_solve(solver, arrays('f'), arrays('u')))
  call hpgmg_destroy(solver)

  if (messages /= 0) error stop 'there are messages without errors'
  if (hpgmg_create(options, solver, '--smoother=none', part%box, MPI_COMM_WORLD%mpi_val) /= &
    HPGMG_BAD_ARGUMENT) error stop 'a bad word is accepted'
  if (index(hpgmg_error(solver), '--smoother') == 0) error stop 'the error does not name the word'
  call MPI_Allreduce(MPI_IN_PLACE, messages, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  if (messages == 0) error stop 'no message of the error'
  call hpgmg_destroy(solver)
  call MPI_Finalize()

contains

  integer function integer_world()
    use mpi, only: world => MPI_COMM_WORLD
    integer_world = world
  end function integer_world

  subroutine check(status)
    integer, intent(in) :: status
    if (status == HPGMG_OK) return
    print '(3a)', hpgmg_status_text(status), ': ', hpgmg_error(solver)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check

  ! Cut the grid into slabs along k, one per rank; those of odd ranks along j, and a box of the last
  ! rank along i.
  subroutine cut()
    integer :: low, high, b
    low = cells(3) * rank / n_ranks
    high = cells(3) * (rank + 1) / n_ranks
    if (mod(rank, 2) == 1) then
      allocate(part(2))
      part(1)%box = hpgmg_box_t([0, 0, low], [cells(1), 7, high - low])
      part(2)%box = hpgmg_box_t([0, 7, low], [cells(1), cells(2) - 7, high - low])
    else
      allocate(part(1))
      part(1)%box = hpgmg_box_t([0, 0, low], [cells(1), cells(2), high - low])
    end if
    if (rank == n_ranks - 1 .and. rank > 0) then
      part = [part, part(1)]
      b = size(part)
      part(1)%box%n(1) = 5
      part(b)%box%lo(1) = 5
      part(b)%box%n(1) = part(b)%box%n(1) - 5
    end if
    do b = 1, size(part)
      associate (p => part(b), n => part(b)%box%n)
        p%f = field(p%box, n, 1) - 1
        p%alpha = field(p%box, n, 2)
        p%beta = field(p%box, n, 3)
        p%beta_i = field(p%box, n + [1, 0, 0], 4)
        p%beta_j = field(p%box, n + [0, 1, 0], 5)
        p%beta_k = field(p%box, n + [0, 0, 1], 6)
        allocate(p%u(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
      end associate
    end do
    call fill_u()
  end subroutine cut

  ! Values from 1 to 2 that depend on the place in the grid only.
  function field(box, n, kind) result(x)
    type(hpgmg_box_t), intent(in) :: box
    integer, intent(in) :: n(3), kind
    real(real64) :: x(n(1), n(2), n(3))
    integer :: i, j, k
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          x(i, j, k) = 1 + mod(dot_product(box%lo + [i, j, k], [7, 13, 5]) * kind, 17) / 16.0_real64
        end do
      end do
    end do
  end function field

  ! The guess 0, and ghosts of -1.
  subroutine fill_u()
    integer :: b
    do b = 1, size(part)
      part(b)%u = -1
      part(b)%u(1:part(b)%box%n(1), 1:part(b)%box%n(2), 1:part(b)%box%n(3)) = 0
    end do
  end subroutine fill_u

  function arrays(name) result(list)
    character(*), intent(in) :: name
    type(hpgmg_array_t) :: list(size(part))
    integer :: b, n(3)
    do b = 1, size(part)
      n = part(b)%box%n
      select case (name)
      case ('u')
        list(b) = hpgmg_array(part(b)%u(1:n(1), 1:n(2), 1:n(3)))
      case ('ghosts')
        list(b) = hpgmg_array(part(b)%u)
      case ('f')
        list(b) = hpgmg_array(part(b)%f)
      case ('alpha')
        list(b) = hpgmg_array(part(b)%alpha)
      case ('beta')
        list(b) = hpgmg_array(part(b)%beta)
      case ('beta_i')
        list(b) = hpgmg_array(part(b)%beta_i)
      case ('beta_j')
        list(b) = hpgmg_array(part(b)%beta_j)
      case ('beta_k')
        list(b) = hpgmg_array(part(b)%beta_k)
      case default
        error stop 'unknown array'
      end select
    end do
  end function arrays

  subroutine set_faces()
    call check(hpgmg_set_coefficients(solver, arrays('beta_i'), arrays('beta_j'), &
      arrays('beta_k'), arrays('alpha')))
  end subroutine set_faces

  subroutine solve(name)
    character(*), intent(in) :: name
    type(hpgmg_info_t) :: info
    integer(int64) :: bits
    integer :: b, i, j, k, place
    call check(hpgmg_solve(solver, arrays('f'), arrays('u'), info))
    bits = 0
    do b = 1, size(part)
      associate (u => part(b)%u, n => part(b)%box%n)
        do k = 1, n(3)
          do j = 1, n(2)
            do i = 1, n(1)
              place = dot_product(part(b)%box%lo + [i, j, k], [1, cells(1), cells(1) * cells(2)])
              bits = ieor(bits, ishftc(transfer(u(i, j, k), bits), mod(place, 61)))
            end do
          end do
        end do
        if (count(abs(u + 1) > 0) > product(n)) error stop 'ghosts of u are written'
      end associate
    end do
    call MPI_Allreduce(MPI_IN_PLACE, bits, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD)
    if (rank == 0) print '(2a, z16.16, a, i0, a, i0, a, es22.16)', name, ': u ', bits, &
      ', reason ', info%reason, ' after ', info%cycles, ' cycles, residual ', info%residual
  end subroutine solve
end program fortran_ranks
