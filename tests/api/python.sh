# shellcheck shell=bash disable=SC2154
# python: pip installs the Python package into a temporary folder. It solves and reports errors (python.py), and has every
# digit of the program's report (report.py: norms of h, 2h and 4h, error, order). examples/poisson.py prints the line of
# examples/poisson.c. Two ranks with mpi4py have the bits of one (python_ranks.py). Runs $PYTHON; skips without NumPy or
# the shared library.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
library=$abs_top_builddir/libhpgmg.so
test -e "$library" || skip_test 'no shared library in a build with sanitizers'
"$PYTHON" -c 'import numpy, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip_test "$PYTHON lacks NumPy or is older than 3.9"
export HPGMG_LIBRARY=$library OMPI_MCA_btl=self LD_LIBRARY_PATH=$abs_top_builddir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# pip writes into the folder that it installs.
cp -R "$abs_top_srcdir/python" "$dir/python"
chmod -R u+w "$dir/python"
if "$PYTHON" -m pip install --quiet --no-deps --disable-pip-version-check --target "$dir/site" "$dir/python" >"$dir/pip" 2>&1; then
  export PYTHONPATH=$dir/site
else
  echo "skipped: pip install: $(tail -n 1 "$dir/pip")"
  export PYTHONPATH=$abs_top_srcdir/python
fi

"$PYTHON" "$abs_top_srcdir/tests/api/python.py" >"$dir/said" 2>&1 || complain "python.py: $(cat "$dir/said")"
"$PYTHON" "$abs_top_srcdir/examples/poisson.py" >"$dir/said" 2>&1 || complain "poisson.py: $(cat "$dir/said")"
# shellcheck disable=SC2086 # a compiler may have options
${CC:-cc} -o "$dir/poisson" "$abs_top_srcdir/examples/poisson.c" -I"$abs_top_srcdir/include" -L"$abs_top_builddir" \
  -lhpgmg || complain 'examples/poisson.c does not compile'
solo "$dir/poisson" >"$dir/want" || complain 'poisson fails'
diff "$dir/want" "$dir/said" || complain 'examples/poisson.py and poisson.c print different lines'

# h5py has an HDF5 library of its own.
if "$PYTHON" -c 'import h5py' 2>/dev/null; then
  for modules in hpgmg,h5py h5py,hpgmg; do
    "$PYTHON" -c "import $modules; h5py.File('x', 'w', driver='core', backing_store=False); hpgmg.Solver((8, 8, 8)).solve(1.0)" \
      >"$dir/said" 2>&1 || complain "import $modules: $(cat "$dir/said")"
  done
fi

# mpi4py must use the MPI of the library.
theirs=$(solo "$PYTHON" -c 'from mpi4py import MPI; print(MPI.Get_library_version().split(",")[0].replace(" v", " "))' 2>/dev/null) || theirs=
if have_mpi && test -n "$theirs" && solo "$HPGMG_FV" --version | grep -q "^MPI .*$theirs$"; then
  for modules in hpgmg,mpi4py.MPI mpi4py.MPI,hpgmg; do
    solo "$PYTHON" -c "import $modules; hpgmg.Solver((8, 8, 8), comm=mpi4py.MPI.COMM_WORLD).solve(1.0)" >"$dir/said" 2>&1 ||
      complain "import $modules: $(cat "$dir/said")"
  done
  (unset OMPI_MCA_btl && mpi_run 2 "$PYTHON" "$abs_top_srcdir/tests/api/python_ranks.py") >"$dir/said" 2>&1 ||
    complain "python_ranks.py: $(cat "$dir/said")"
else
  echo 'skipped: several ranks, without mpi4py of this MPI'
fi

if have_feature HDF5 && have_feature jansson && "$PYTHON" -c 'import h5py' 2>/dev/null; then
  cd "$dir" || exit 1
  while IFS= read -r words; do
    # shellcheck disable=SC2086 # words
    ok 1 6 1 --verify-only --dump=problem.hdf --dump-fields=f,u,beta_i,beta_j,beta_k --dump-levels=0,1,2 \
      --json=report.json --device=cpu $words
    "$PYTHON" "$abs_top_srcdir/tests/api/report.py" problem.hdf report.json "--method=options --device=cpu $words" >why 2>&1 ||
      complain "report of $words: $(cat why)"
  done <<'END'

--rtol=1e-9
--operator=fv4
--boundary=periodic --equation=helmholtz
--operator=7pt --smoother=chebyshev --krylov=cg --rtol=1e-9
END
else
  echo 'skipped: the report, without HDF5, jansson or h5py'
fi
finish
