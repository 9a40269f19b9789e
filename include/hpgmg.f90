! libhpgmg in Fortran 2008. hpgmg.h documents types and functions; docs/library.md shows their use.
!
! Names are those of hpgmg.h. The differences:
! - hpgmg_create, hpgmg_set_coefficients and hpgmg_solve take further arguments instead of pointers.
! - hpgmg_array(x) describes an array x(i, j, k) or a section of one, such as x(1:n, 1:n, 1:n);
!   hpgmg_array(value) describes one value for all cells. An array with ghosts is an error. Both need the attribute target. They are
!   not copied, and must exist until the call that uses them returns.
! - Texts are Fortran strings; hpgmg_string converts the text that a log function gets.
!
! Compile this file with the application: compilers do not read each other's module files.
module hpgmg
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funptr, &
    c_int, c_int32_t, c_int64_t, c_intptr_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, &
    c_size_t, c_sizeof
  implicit none
  private
  public :: hpgmg_array, hpgmg_boxes, hpgmg_create, hpgmg_destroy, hpgmg_error, hpgmg_log_t, hpgmg_memory, hpgmg_method, &
    hpgmg_options, hpgmg_set_coefficients, hpgmg_set_sides, hpgmg_solve, hpgmg_status_text, &
    hpgmg_storage, hpgmg_string, hpgmg_version

  integer, parameter, public :: HPGMG_VERSION_MAJOR = 0, HPGMG_VERSION_MINOR = 1

  ! Results of calls.
  enum, bind(c)
    enumerator :: HPGMG_OK = 0, HPGMG_NOT_CONVERGED, HPGMG_BAD_ARGUMENT, HPGMG_UNAVAILABLE, &
      HPGMG_NO_MEMORY, HPGMG_FAILED
  end enum
  public :: HPGMG_OK, HPGMG_NOT_CONVERGED, HPGMG_BAD_ARGUMENT, HPGMG_UNAVAILABLE, HPGMG_NO_MEMORY, &
    HPGMG_FAILED

  ! Why a solve ended.
  enum, bind(c)
    enumerator :: HPGMG_CYCLES_DONE = 0, HPGMG_CONVERGED, HPGMG_MAX_CYCLES, HPGMG_DIVERGED, HPGMG_STAGNATED
  end enum
  public :: HPGMG_CYCLES_DONE, HPGMG_CONVERGED, HPGMG_MAX_CYCLES, HPGMG_DIVERGED, HPGMG_STAGNATED

  type, bind(c), public :: hpgmg_info_t
    integer(c_int) :: reason = HPGMG_CYCLES_DONE, cycles = 0
    real(c_double) :: residual = 0, relative = 0
  end type hpgmg_info_t

  ! lo counts from 0, as in C.
  type, bind(c), public :: hpgmg_box_t
    integer(c_int32_t) :: lo(3) = 0, n(3) = 0
  end type hpgmg_box_t

  type, bind(c), public :: hpgmg_array_t
    type(c_ptr) :: data = c_null_ptr
    integer(c_intptr_t) :: stride(3) = 0
    integer(c_int32_t) :: n(3) = 0
  end type hpgmg_array_t

  type, bind(c), public :: hpgmg_coefficients_t
    type(c_ptr) :: beta(3) = c_null_ptr, alpha = c_null_ptr, cell_beta = c_null_ptr, mask = c_null_ptr
  end type hpgmg_coefficients_t

  ! In the order low i, high i, low j and so on.
  type, bind(c), public :: hpgmg_sides_t
    type(c_ptr) :: values(6) = c_null_ptr
  end type hpgmg_sides_t

  type, bind(c), public :: hpgmg_options_t
    integer(c_size_t) :: size = 0
    integer(c_int32_t) :: cells(3) = 0
    type(c_ptr) :: faces(3) = c_null_ptr
    integer(c_int32_t) :: n_boxes = 0
    type(c_ptr) :: boxes = c_null_ptr, words = c_null_ptr
    integer(c_int) :: varying_alpha = 0, guess = 0
    integer(c_int32_t) :: cycles = 0
    type(c_ptr) :: comm = c_null_ptr, comm_f = c_null_ptr, stream = c_null_ptr
    type(c_funptr) :: log = c_null_funptr
    type(c_ptr) :: log_data = c_null_ptr
    type(c_funptr) :: allocate = c_null_funptr, release = c_null_funptr
    type(c_ptr) :: memory_data = c_null_ptr
  end type hpgmg_options_t

  type, public :: hpgmg_solver_t
    type(c_ptr) :: handle = c_null_ptr
    integer :: n_boxes = 0 ! of this rank
  end type hpgmg_solver_t

  ! options%log = c_funloc(such a subroutine of a module)
  abstract interface
    subroutine hpgmg_log_t(data, text) bind(c)
      import :: c_ptr
      type(c_ptr), value :: data, text
    end subroutine hpgmg_log_t
  end interface

  interface hpgmg_array
    module procedure array_of_cells, array_of_value
  end interface hpgmg_array

  ! (solver, coefficients), or (solver, beta_i, beta_j, beta_k, alpha, cell_beta, mask). The latter are
  ! optional, and arrays with an element for each box: beta_i = [hpgmg_array(x)].
  interface hpgmg_set_coefficients
    module procedure set_coefficients, set_coefficients_of_arrays
  end interface hpgmg_set_coefficients

  ! (solver, sides), or (solver, low_i, high_i, low_j, high_j, low_k, high_k). The latter are optional,
  ! and arrays with an element for each box.
  interface hpgmg_set_sides
    module procedure set_sides, set_sides_of_arrays
  end interface hpgmg_set_sides

  ! (solver, f, u, info): f and u of one box, or arrays with an element for each box. Without info, a
  ! solve by number of cycles may only be enqueued on a GPU, as with NULL in C.
  interface hpgmg_solve
    module procedure solve, solve_box
  end interface hpgmg_solve

  ! Functions of the library.
  interface
    function c_version() bind(c, name='hpgmg_version')
      import :: c_ptr
      type(c_ptr) :: c_version
    end function c_version

    function c_status_text(status) bind(c, name='hpgmg_status_text')
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: c_status_text
    end function c_status_text

    function c_create(options, solver) bind(c, name='hpgmg_create')
      import :: c_int, c_ptr, hpgmg_options_t
      type(hpgmg_options_t), intent(in) :: options
      type(c_ptr), intent(out) :: solver
      integer(c_int) :: c_create
    end function c_create

    function c_set_coefficients(solver, coefficients) bind(c, name='hpgmg_set_coefficients')
      import :: c_int, c_ptr, hpgmg_coefficients_t
      type(c_ptr), value :: solver
      type(hpgmg_coefficients_t), intent(in) :: coefficients
      integer(c_int) :: c_set_coefficients
    end function c_set_coefficients

    function c_set_sides(solver, sides) bind(c, name='hpgmg_set_sides')
      import :: c_int, c_ptr, hpgmg_sides_t
      type(c_ptr), value :: solver
      type(hpgmg_sides_t), intent(in) :: sides
      integer(c_int) :: c_set_sides
    end function c_set_sides

    function c_solve(solver, f, u, info) bind(c, name='hpgmg_solve')
      import :: c_int, c_ptr
      type(c_ptr), value :: solver, f, u, info
      integer(c_int) :: c_solve
    end function c_solve

    function c_boxes(solver, boxes, max) bind(c, name='hpgmg_boxes')
      import :: c_int32_t, c_ptr, hpgmg_box_t
      type(c_ptr), value :: solver
      type(hpgmg_box_t), intent(inout) :: boxes(*)
      integer(c_int32_t), value :: max
      integer(c_int32_t) :: c_boxes
    end function c_boxes

    subroutine c_storage(solver, f, u) bind(c, name='hpgmg_storage')
      import :: c_ptr, hpgmg_array_t
      type(c_ptr), value :: solver
      type(hpgmg_array_t), intent(inout) :: f(*), u(*)
    end subroutine c_storage

    subroutine c_memory(solver, bytes) bind(c, name='hpgmg_memory')
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: solver
      integer(c_int64_t), intent(out) :: bytes(2)
    end subroutine c_memory

    function c_method(solver) bind(c, name='hpgmg_method')
      import :: c_ptr
      type(c_ptr), value :: solver
      type(c_ptr) :: c_method
    end function c_method

    function c_error(solver) bind(c, name='hpgmg_error')
      import :: c_ptr
      type(c_ptr), value :: solver
      type(c_ptr) :: c_error
    end function c_error

    subroutine c_destroy(solver) bind(c, name='hpgmg_destroy')
      import :: c_ptr
      type(c_ptr), intent(inout) :: solver
    end subroutine c_destroy

    pure function c_strlen(text) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function c_strlen
  end interface

contains

  function hpgmg_options() result(options)
    type(hpgmg_options_t) :: options
    options%size = c_sizeof(options)
  end function hpgmg_options

  ! As the argument is a pointer, compilers refuse expressions and variables without target, of
  ! which they could pass a copy.
  function array_of_cells(x) result(array)
    real(c_double), pointer, intent(in) :: x(:, :, :)
    type(hpgmg_array_t) :: array
    integer :: first(3), next(3), d
    if (size(x) == 0) return
    array%n = shape(x, c_int32_t)
    first = lbound(x)
    array%data = c_loc(x(first(1), first(2), first(3)))
    do d = 1, 3
      array%stride(d) = 1
      if (size(x, d) == 1) cycle
      next = first
      next(d) = first(d) + 1
      array%stride(d) = (address(c_loc(x(next(1), next(2), next(3)))) - address(array%data)) / 8
    end do
  end function array_of_cells

  function array_of_value(value) result(array)
    real(c_double), pointer, intent(in) :: value
    type(hpgmg_array_t) :: array
    array%data = c_loc(value)
  end function array_of_value

  pure integer(c_intptr_t) function address(pointer)
    type(c_ptr), intent(in) :: pointer
    address = transfer(pointer, address)
  end function address

  ! words, boxes and comm replace the pointers in options. comm is a communicator of the module mpi,
  ! or component mpi_val of one of the module mpi_f08.
  integer(c_int) function hpgmg_create(options, solver, words, boxes, comm) result(status)
    type(hpgmg_options_t), intent(in) :: options
    type(hpgmg_solver_t), intent(out) :: solver
    character(*), intent(in), optional :: words
    type(hpgmg_box_t), intent(in), contiguous, target, optional :: boxes(:)
    integer, intent(in), optional :: comm
    type(hpgmg_options_t) :: given
    character(kind=c_char), allocatable, target :: c_words(:)
    integer(c_int32_t), target :: handle
    given = options
    if (present(words)) then
      c_words = transfer(trim(words) // c_null_char, [c_null_char])
      given%words = c_loc(c_words)
    end if
    if (present(boxes)) then
      given%n_boxes = size(boxes, kind=c_int32_t)
      given%boxes = c_null_ptr
      if (size(boxes) > 0) given%boxes = c_loc(boxes)
    end if
    if (present(comm)) then
      handle = int(comm, c_int32_t)
      given%comm_f = c_loc(handle)
    end if
    solver%n_boxes = given%n_boxes
    if (.not. (c_associated(given%comm) .or. c_associated(given%comm_f))) &
      solver%n_boxes = max(solver%n_boxes, 1)
    status = c_create(given, solver%handle)
  end function hpgmg_create

  integer(c_int) function set_coefficients(solver, coefficients) result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_coefficients_t), intent(in) :: coefficients
    status = c_set_coefficients(solver%handle, coefficients)
  end function set_coefficients

  integer(c_int) function set_coefficients_of_arrays(solver, beta_i, beta_j, beta_k, alpha, &
    cell_beta, mask) result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(in), contiguous, target, optional :: beta_i(:), beta_j(:), &
      beta_k(:), alpha(:), cell_beta(:), mask(:)
    type(hpgmg_coefficients_t) :: coefficients
    coefficients%beta = [list(solver, beta_i), list(solver, beta_j), list(solver, beta_k)]
    coefficients%alpha = list(solver, alpha)
    coefficients%cell_beta = list(solver, cell_beta)
    coefficients%mask = list(solver, mask)
    status = c_set_coefficients(solver%handle, coefficients)
  end function set_coefficients_of_arrays

  integer(c_int) function set_sides(solver, sides) result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_sides_t), intent(in) :: sides
    status = c_set_sides(solver%handle, sides)
  end function set_sides

  integer(c_int) function set_sides_of_arrays(solver, low_i, high_i, low_j, high_j, low_k, high_k) &
    result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(in), contiguous, target, optional :: low_i(:), high_i(:), &
      low_j(:), high_j(:), low_k(:), high_k(:)
    type(hpgmg_sides_t) :: sides
    sides%values = [list(solver, low_i), list(solver, high_i), list(solver, low_j), &
      list(solver, high_j), list(solver, low_k), list(solver, high_k)]
    status = c_set_sides(solver%handle, sides)
  end function set_sides_of_arrays

  ! The address of arrays; not null for those of a rank without boxes. Null, which the library reports,
  ! if the numbers of arrays and boxes differ.
  type(c_ptr) function list(solver, arrays)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(in), contiguous, target, optional :: arrays(:)
    type(hpgmg_array_t), save, target :: none
    list = c_null_ptr
    if (.not. present(arrays)) return
    if (solver%n_boxes > 0 .and. size(arrays) /= solver%n_boxes) return
    list = c_loc(none)
    if (size(arrays) > 0) list = c_loc(arrays)
  end function list

  integer(c_int) function solve(solver, f, u, info) result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(in), contiguous, target :: f(:), u(:)
    type(hpgmg_info_t), intent(out), target, optional :: info
    type(c_ptr) :: c_info
    c_info = c_null_ptr
    if (present(info)) c_info = c_loc(info)
    status = c_solve(solver%handle, list(solver, f), list(solver, u), c_info)
  end function solve

  integer(c_int) function solve_box(solver, f, u, info) result(status)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(in) :: f, u
    type(hpgmg_info_t), intent(out), optional :: info
    status = solve(solver, [f], [u], info)
  end function solve_box

  subroutine hpgmg_destroy(solver)
    type(hpgmg_solver_t), intent(inout) :: solver
    call c_destroy(solver%handle)
  end subroutine hpgmg_destroy

  ! This rank's boxes as the solver divides the grid.
  function hpgmg_boxes(solver) result(boxes)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_box_t), allocatable :: boxes(:)
    integer(c_int32_t) :: n
    allocate(boxes(0))
    n = c_boxes(solver%handle, boxes, 0_c_int32_t)
    deallocate(boxes)
    allocate(boxes(n))
    n = c_boxes(solver%handle, boxes, n)
  end function hpgmg_boxes

  ! Arrays of the solver's own memory, an element for each box. To use one of these, give its data, the
  ! strides and the cells of the box to c_f_pointer: a row begins every stride(2) values.
  subroutine hpgmg_storage(solver, f, u)
    type(hpgmg_solver_t), intent(in) :: solver
    type(hpgmg_array_t), intent(inout), contiguous :: f(:), u(:)
    if (min(size(f), size(u)) >= solver%n_boxes) call c_storage(solver%handle, f, u)
  end subroutine hpgmg_storage

  ! Bytes of the levels on this rank: of the host, and of the GPU.
  function hpgmg_memory(solver) result(bytes)
    type(hpgmg_solver_t), intent(in) :: solver
    integer(c_int64_t) :: bytes(2)
    call c_memory(solver%handle, bytes)
  end function hpgmg_memory

  ! Smoother, cycle and solvers as words, and why --method=auto chose them.
  function hpgmg_method(solver) result(text)
    type(hpgmg_solver_t), intent(in) :: solver
    character(:), allocatable :: text
    text = hpgmg_string(c_method(solver%handle))
  end function hpgmg_method

  function hpgmg_error(solver) result(text)
    type(hpgmg_solver_t), intent(in) :: solver
    character(:), allocatable :: text
    text = hpgmg_string(c_error(solver%handle))
  end function hpgmg_error

  function hpgmg_status_text(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = hpgmg_string(c_status_text(status))
  end function hpgmg_status_text

  function hpgmg_version() result(text)
    character(:), allocatable :: text
    text = hpgmg_string(c_version())
  end function hpgmg_version

  function hpgmg_string(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    call c_f_pointer(c_text, characters, [c_strlen(c_text)])
    allocate(character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function hpgmg_string
end module hpgmg
