"""readers: compare dumps read by VTK and ParaView with values read by h5py.

readers.py expect DUMP OUT.npz           save every field of every level, read by h5py
readers.py vtk DUMP EXPECTED.npz         compare with the Python module vtk
pvpython readers.py paraview DUMP EXPECTED.npz   compare with ParaView

Compares values, types, sizes, and positions of cells and points. Prints what was compared.
"""

import os
import sys

import numpy as np


def expect(dump, out):
    import h5py

    found = {}
    with h5py.File(dump) as file:
        centering = file["HPGMG"].attrs["centering"].decode()
        groups = {0: file["VTKHDF"]["CellData" if centering == "cell" else "PointData"]}
        for name, group in file["HPGMG/levels"].items() if "levels" in file["HPGMG"] else ():
            groups[int(name.split("_")[1])] = group
        for level, group in groups.items():
            for field in group:
                found[f"{level} {field}"] = group[field][...]
    np.savez(out, centering=centering, **found)


class Expected:
    def __init__(self, path):
        with np.load(path) as found:
            self.centering = str(found["centering"])
            self.fields = {key: found[key] for key in found.files if key != "centering"}

    def level(self, level):
        return {k.split()[1]: v for k, v in self.fields.items() if int(k.split()[0]) == level}

    def n_levels(self):
        return len({key.split()[0] for key in self.fields})


def compare(image, fields, as_points, reader):
    """Compare a VTK image with the fields of a level, [k][j][i]."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    n = len(next(iter(fields.values())))
    h = 1.0 / n
    assert image.GetDimensions() == ((n,) * 3 if as_points else (n + 1,) * 3), image.GetDimensions()
    assert np.allclose(image.GetSpacing(), h, rtol=1e-15), image.GetSpacing()
    assert np.allclose(image.GetOrigin(), 0.5 * h if as_points else 0.0), image.GetOrigin()
    # Values are at cell centers in both cases.
    for i, j, k in ((0, 0, 0), (1, 2, 3), (n - 1, n // 2, 5)):
        if as_points:
            at = image.GetPoint(i + n * (j + n * k))
        else:
            bounds = image.GetCell(i + n * (j + n * k)).GetBounds()
            at = [0.5 * (bounds[2 * d] + bounds[2 * d + 1]) for d in range(3)]
        assert np.allclose(at, [(c + 0.5) * h for c in (i, j, k)], rtol=1e-12), (
            f"{at} at {i} {j} {k}"
        )
    data, other = image.GetPointData(), image.GetCellData()
    if not as_points:
        data, other = other, data
    names = sorted(data.GetArrayName(a) for a in range(data.GetNumberOfArrays()))
    assert names == sorted(fields), f"{names} instead of {sorted(fields)}"
    # No array of the other centering, such as ParaView's ghost array.
    assert other.GetNumberOfArrays() == 0, f"unexpected array {other.GetArrayName(0)}"
    for name, values in fields.items():
        got = vtk_to_numpy(data.GetArray(name))
        assert got.dtype == values.dtype, f"{name} is {got.dtype}, not {values.dtype}"
        assert np.array_equal(got, values.ravel()), f"{name} differs"
    print(f"{reader}: {len(fields)} fields of {n}^3 {'points' if as_points else 'cells'} are equal")


def images_of(found):
    """The levels of an XDMF file: the leaves of a tree, or a single image."""
    if not found.IsA("vtkCompositeDataSet"):
        return [found]
    leaves, at = [], found.NewIterator()
    while not at.IsDoneWithTraversal():
        leaves.append(at.GetCurrentDataObject())
        at.GoToNextItem()
    return leaves


def compare_xdmf(found, expected, reader):
    images = images_of(found)
    assert len(images) == expected.n_levels(), f"{len(images)} levels"
    levels = sorted({int(key.split()[0]) for key in expected.fields})
    for image, level in zip(images, levels):
        compare(image, expected.level(level), False, f"{reader}, level {level}")


def vtk(dump, path):
    # Single modules: all of VTK takes four times as long to import.
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkIOHDF import vtkHDFReader

    expected, version = Expected(path), vtkVersion()
    as_points = expected.centering == "point"
    about = f"VTK {version.GetVTKVersion()}"
    if as_points or (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) >= (9, 3):
        reader = vtkHDFReader()
        reader.SetFileName(dump)
        reader.Update()
        compare(reader.GetOutputDataObject(0), expected.level(0), as_points, f"{about}, VTKHDF")
    else:
        print(f"{about} cannot read cells from VTKHDF")
    try:
        from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
    except ImportError:
        print(f"{about} has no XDMF reader")
        return
    reader = vtkXdmfReader()
    reader.SetFileName(f"{dump}.xdmf")
    reader.Update()
    compare_xdmf(reader.GetOutputDataObject(0), expected, f"{about}, XDMF")


def paraview(dump, path):
    from paraview import servermanager, simple

    expected, version = Expected(path), simple.GetParaViewVersion()
    as_points = expected.centering == "point"
    about = f"ParaView {simple.GetParaViewSourceVersion().split()[-1]}"
    if as_points or (version.major, version.minor) >= (5, 12):
        reader = simple.OpenDataFile(dump)
        compare(servermanager.Fetch(reader), expected.level(0), as_points, f"{about}, VTKHDF")
    else:
        print(f"{about} cannot read cells from VTKHDF")
    # The readers of XDMF 3 need an absolute path.
    side = os.path.abspath(f"{dump}.xdmf")
    for name, reader in (
        ("XDMF", lambda: simple.XDMFReader(FileNames=[side])),
        ("XDMF 3", lambda: simple.OpenDataFile(side)),
    ):
        compare_xdmf(servermanager.Fetch(reader()), expected, f"{about}, {name}")


if __name__ == "__main__":
    {"expect": expect, "vtk": vtk, "paraview": paraview}[sys.argv[1]](*sys.argv[2:])
