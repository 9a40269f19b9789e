# shellcheck shell=bash disable=SC2154
# scaling_model: 'scaling model' on runs whose times are sums of known costs. It recovers the costs and
# predicts held-back points, more ranks and other agglomeration, all within a percent. With noise, its
# bands contain the true values. Costs that it cannot determine give one line of error. Runs $PYTHON;
# skips without it, numpy, scipy or jansson.
. "$abs_top_srcdir/tests/lib/scaling_lib.sh"
need_python numpy scipy
model=$abs_top_srcdir/tests/scripts/scaling_model.py
cd "$dir" || exit 1
# Models need many plans several times. A plan depends only on the arguments here, so keep its text.
mkdir plans
cat >kept_planner <<SH
#!/bin/bash
plan="$dir/plans/\${*//\//_}"
test -e "\$plan" || { "$planner" "\$@" >"\$plan.\$\$" && mv "\$plan.\$\$" "\$plan"; } || exit
echo "\$(<"\$plan")"
SH
chmod +x kept_planner
planner=$dir/kept_planner

# study NAME LINE...: plan a study in the folder NAME and make its runs. Variables: study_kind (weak), study_nodes
# (1, 2, 4, 8), more_nodes, noise (0).
study() {
  local name=$1
  shift
  printf '%s\n' '[study]' "kind = ${study_kind:-weak}" "nodes = ${study_nodes:-1, 2, 4, 8}${more_nodes:-}" 'repeats = 2' "$@" >"$name.ini"
  good plan "$name.ini" --system=local --program="$planner"
  quick_python "$model" make "$name" "$planner" "${noise:-0}" || complain "$name: no runs"
}

# costs FOLDER: the printed costs equal those that the runs were made of.
costs() {
  checks=$((checks + 1))
  quick_python "$model" costs "$1" >want
  awk 'NR == FNR { want[$1] = $2; n++; next }
    { split($1, name, "."); if ($1 in want) name[1] = $1 }
    /^held back/ { exit }
    name[1] in want && NF > 5 { found++; if ($2 < 0.99 * want[name[1]] || $2 > 1.01 * want[name[1]]) { print $1, $2, "not", want[name[1]]; bad = 1 } }
    END { if (found != n) { print found, "of", n, "costs"; bad = 1 } exit bad }' want out >why ||
    complain "$1: costs: $(cat why)"
}

# held: every held-back point was predicted within a percent.
held() {
  checks=$((checks + 1))
  awk '/^held back/ { on = 1; next } on && NF == 0 { exit }
    on { n++; if ($NF != "%" || $(NF - 1) < -1 || $(NF - 1) > 1) { print; bad = 1 } }
    END { exit bad || n < 4 }' out >why || complain "held back: $(cat why out)"
}

# split: the modeled time of each level of the largest point is right within two percent, although it is not fitted.
split() {
  checks=$((checks + 1))
  awk '/^levels of .* on h: / { on = 1; next } on && NF == 0 { exit }
    on && $NF == "%" { n++; if ($(NF - 1) < -2 || $(NF - 1) > 2) { print; bad = 1 } }
    END { exit bad || n < 3 }' out >why || complain "levels: $(cat why out)"
}

# near WHAT A B: two numbers agree within a percent.
near() {
  checks=$((checks + 1))
  awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }' || complain "$1: $2, not $3"
}

# column FOLDER RANKS NAME: value in model.csv.
column() {
  awk -F, -v ranks="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
    $1 == ranks { print $at }' "$1/model.csv"
}

# truth FOLDER RANKS OPTION...: true seconds of a solve.
truth() {
  quick_python "$model" truth "$1" "$planner" "${@:2}"
}

study cpu '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 512'
study gpu '[node]' 'ranks = 1' 'gpus-per-rank = 1' '[problem]' 'log2-box-dim = 5' 'boxes-per-rank = 64' \
  '[options]' 'steps-per-pass = 1'
more_nodes=', 16, 27' study passes '[node]' 'ranks = 1' 'gpus-per-rank = 1' '[problem]' 'log2-box-dim = 6' 'boxes-per-rank = 64'
for kind in cpu gpu passes; do
  good model "$kind" --to=4096 --extrapolate
  if grep -q 'misses measured times' err; then complain "residuals of exact times: $(cat err)"; fi
  costs "$kind"
  held
  split
  near "$kind: 8 ranks" "$(column "$kind" 8 seconds)" "$(truth "$kind" 8)"
  near "$kind: 4096 ranks" "$(column "$kind" 4096 seconds)" "$(truth "$kind" 4096)"
  # What-if with other agglomeration: change in percent at 4096 ranks.
  says '^gather only if boxes run out .* %$'
  change=$(awk '/^gather only/ { print $(NF - 1) }' out)
  near "$kind: gather only if boxes run out" "$(awk -v c="$change" 'BEGIN { print 1 + c / 100 }')" \
    "$(awk -v a="$(truth "$kind" 4096 --agglomerate-below=0)" -v b="$(truth "$kind" 4096)" 'BEGIN { print a / b }')"
  test "$(awk -F, 'NR > 1 && ($5 > $4 || $6 < $4)' "$kind/model.csv" | wc -l)" -eq 0 || complain "$kind: a band does not contain its value"
done
says '^levels below 4096 cells on the CPU +unknown: no run had levels on the CPU'
says '^one kernel for levels up to 1000 cells|; one kernel for levels up to 1000 cells'

# With two studies, the curve is that of the first. Assumed costs affect it, and the what-if with half of the messages.
study small '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 64'
good model cpu small --to=64 --hold-back=cpu/n4,small/n8
says '^cpu/n8 .*%'
test "$(grep -c '^small/n8 .*%' out)" -eq 3 || complain "held back together: $(cat out)"
before=$(column cpu 64 seconds)
good model cpu small --to=64 --assume=exchange=0s --assume=message.cpu=0us
test "$(awk -v a="$before" -v b="$(column cpu 64 seconds)" 'BEGIN { print (b < a) }')" -eq 1 || complain 'free messages save no time'
grep -qE '^half as many messages, the same bytes +[+-]0\.0 %' out || complain "half of no messages: $(cat out)"
says '^exchange.cpu +0 +assumed'

# The forecast of a strong study has one grid. Here 16 ranks are omitted: with 60 boxes they would have 4 each, 64 in all.
study_kind=strong study_nodes='1, 2, 3, 4, 5, 6' study strong '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 60'
good model strong --to=10000 --extrapolate
test "$(awk -F, 'NR > 1 { print $2 }' strong/model.csv | sort -u | wc -l)" -eq 1 || complain "several grids: $(cat strong/model.csv)"
says '^ +1 +48\^3 '

# With noise of 2 %, the bands contain the true time, and their bounds differ by less than 40 %.
noise=0.02 study noisy '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 512'
good model noisy --to=512 --extrapolate
for ranks in 8 512; do
  checks=$((checks + 1))
  awk -v low="$(column noisy "$ranks" seconds_5)" -v high="$(column noisy "$ranks" seconds_95)" -v t="$(truth noisy "$ranks")" \
    'BEGIN { exit !(low < t && t < high && high / low < 1.4) }' || complain "the band of $ranks ranks: $(cat noisy/model.csv)"
done

# With noise of 70 %, every band still contains its value, in the tables and in model.csv; a warning names the worst
# residuals; and the forecast ends at ten times the measured ranks.
noise=0.7 study_nodes='1, 2, 4' study loud '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 5' 'boxes-per-rank = 512'
good model loud
checks=$((checks + 1))
awk '/^cost / { on = 1; next } /^forecast/ { on = 2; getline; next } NF == 0 { on = 0 }
  on { at = on == 1 ? 2 : 3; n++; if ($at < $(at + 1) || $at > $(at + 2)) { print; bad = 1 } }
  END { exit bad || n < 10 }' out >why || complain "values out of their bands: $(cat why out)"
checks=$((checks + 1))
awk -F, 'NR > 1 { n++; if (!(0 < $5 && $5 < $4 && $4 < $6)) { print; bad = 1 } } END { exit bad || n != 3 }' loud/model.csv >why ||
  complain "bands of model.csv: $(cat why loud/model.csv)"
test "$(tail -n 1 loud/model.csv | cut -d, -f1)" -eq 27 || complain "the curve does not end at the last cube up to 40 ranks: $(cat loud/model.csv)"
grep -qE '^scaling: warning: the model misses measured times by more than 20 %: n1 on 4h by \+76\.[0-9] %, n2 on 4h by \+[0-9.]+ %, ' err ||
  complain "large residuals: $(cat err)"
refuse 2 '--to=41 is more than 10 times the 4 measured ranks: use --to=40 or less, or add --extrapolate' model loud --to=41
good model loud --to=40

# Errors of held-back points widen a band by the same factor on both sides.
in_python 'symmetric bands' <<'PY'
from types import SimpleNamespace as Some
from studies.forecast import Forecaster
from studies.model import Model
second = Model({("solve", "cpu"): 1.0}, 0.0)
forecaster = Forecaster(Some(ranks=lambda nodes: nodes), "", None, second)
forecaster.work = lambda nodes, change: ([Some(dim=16)], lambda cache: [{("solve", "cpu"): 1.0}])
forecaster.expect_errors([second] * 200, [-0.1, -0.1, -1.0])
one = forecaster.predict(1)
assert abs(one.low - 0.9) < 1e-9 and abs(one.high - 1.0 / 0.9) < 1e-9, (one.low, one.high)
PY

# where_from: a range reaches up to the last number of ranks, otherwise numbers are listed.
in_python 'where coarse levels dominate' <<'PY'
from types import SimpleNamespace as Some
from studies.model_report import where_from
curve = [Some(ranks=n) for n in (1, 8, 27, 64)]
for holds, want in (
    ((0, 0, 0, 0), "at no number up to 64 GPUs"),
    ((1, 0, 1, 1), "from 27 GPUs on"),
    ((1, 1, 1, 1), "from 1 GPUs on"),
    ((0, 1, 1, 0), "with 8, 27 GPUs, not with 64"),
):
    text = where_from(curve, [bool(h) for h in holds], "GPUs")
    assert text == want, text
PY

# The band of a cost contains the true value about nine times out of ten, as it should.
in_python 'bands of costs' <<'PY'
import random
from types import SimpleNamespace as Some
import numpy
from studies.costs import Exchanges, Level, Setting
from studies.model import Fit, bootstrap, seconds_of, spread
def sample(name, cells, patches):
    level = Level(dim=1, ranks=1, place="cpu", passes=False, cells=cells, patches=patches, bytes=1,
                  messages=0, doubles=0, face_messages=0, face_doubles=0, taken_over=0)
    return Some(name=name, grid=0, levels=[level], visits=[1], setting=Setting(1, 1, None, {}, 0))
works = [(4096, 8), (32768, 1), (65536, 40), (262144, 2), (20000, 3)]
samples = [sample(str(i), *work) for i, work in enumerate(works)]
truth, held = 20e-9, 0
for seed in range(100):
    draw = random.Random(seed)
    for s, (cells, patches) in zip(samples, works):
        s.seconds = (truth * cells + 15e-6 * patches + 2e-4) * draw.lognormvariate(0.0, 0.05)
    model = Fit(samples, 1e9).model(numpy.array([s.seconds for s in samples]))[0]
    cost = model.values["cell", "cpu"]
    held += abs(truth - cost) <= spread(cost, [m.values["cell", "cpu"] for m in bootstrap(samples, model)])
print(held)
assert held >= 85, f"{held} of 100 bands contain the true value"
# With one outlier, the draws still lie on both sides of the fitted value.
samples[0].seconds *= 8.0
model = Fit(samples, 1e9).model(numpy.array([s.seconds for s in samples]))[0]
fitted = sum(model.of_sample(s) for s in samples)
draws = [sum(drawn.of_sample(s) for s in samples) for drawn in bootstrap(samples, model)]
above = sum(d > fitted for d in draws) / len(draws)
assert 0.1 < above < 0.9, above
# Draws differ in cache size too: the true 150 MB lie between two candidates.
for i, (s, mb) in enumerate(zip(samples, (40, 100, 200, 300, 400))):
    s.levels[0].bytes, s.levels[0].cells = int(mb * 1e6), mb * 10000
    s.seconds = 20e-9 * s.levels[0].cells * (1.0 + max(0.0, 1.0 - 150.0 / mb)) * (1.0 + 0.02 * (-1) ** i)
caches = {m.cache for m in bootstrap(samples, Fit(samples, 128e6).model(seconds_of(samples))[0])}
assert len(caches) > 1, caches
PY

# Pictures, if matplotlib is available: invisible parts have no entry in the legend.
if quick_python -c 'import matplotlib' 2>/dev/null; then
  test "$(head -c 4 cpu/model.png | tail -c 3)" = PNG || complain 'no picture'
  in_python 'the picture' <<'PY'
from types import SimpleNamespace as Some
import plots.model
drawn = []
plots.model.save_figure = lambda fig, path: drawn.append(fig)
curve = [
    Some(ranks=n, dof=n, seconds=1.0, low=0.5, high=2.0, parts=parts)
    for n, parts in (
        (1, {"cells": 0.997, "launches": 0.003, "messages": 0.0, "bytes": 0.0}),
        (8, {"cells": 0.699, "launches": 0.001, "messages": 0.3, "bytes": 0.0}),
    )
]
measured = [(Some(ranks=1, dof=1, seconds=1.1, problem="fv2, gsrb"), 1.0)]
plots.model.draw_model("model.png", measured, curve, "weak scaling", "ranks", None)
time, share, rate = drawn[0].axes
labels = [text.get_text() for text in share.get_legend().get_texts()]
assert labels == ["cells", "messages"], labels
assert drawn[0]._suptitle.get_text().count("\n") == 1
PY
fi
test -z "$(find . -name '*.tmp')" || complain 'temporary files are left'

# --- errors --------------------------------------------------------------------------------------

refuse 2 "none has no plan" model none
refuse 2 "--hold-back=n3 is not one of n1, n2, n4, n8" model cpu --hold-back=n3
for wrong in message 'message=' 'message=5' 'message=5parsec' 'message=-5us' 'mesage=5us' 'gather.cpu=5us' 'cell.gpu=5ns' 'cell=nans'; do
  refuse 2 "--assume=$wrong must be NAME=VALUE" model cpu --assume="$wrong"
done
refuse 2 "'0' is not an integer from 1 to 10000000" model cpu --to=0
refuse 2 'all costs are 0, so there is no forecast' model cpu \
  --assume={cell,far,patch,exchange,message,double,gather,solve}=0s
study pairs '[node]' 'ranks = 2' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 512'
scaling model pairs --to=1
test "$rc" -eq 2 || complain "less than a node: exit code $rc"
grep -q '^scaling: error: --to=1: the forecast starts at 2 ranks' err || complain "less than a node: $(cat err)"
good model pairs --to=64
says '^ +2 +160\^3 .* 100\.0 %'
refuse 2 "two studies have the same name" model cpu ./cpu
good plan cpu.ini --system=local --program="$HPGMG_FV" --folder=empty
refuse 3 "no study has results yet" model empty
cp -r cpu few
rm few/runs/n[48].*.json few/runs/n2.*.json
refuse 2 "3 solves \(points times grids\) are too few for" model few
cp -r cpu alone
rm alone/runs/n[248].*.json
refuse 2 'are too few for|no run has messages between ranks' model alone
cp -r small other
sed -i 's/"smoother": "gsrb"/"smoother": "jacobi"/' other/runs/n4.2.json
refuse 2 'all runs of a model must have one value of smoother: .*n4.2.json has jacobi, .*n1.1.json has gsrb' model other
study lazy '[node]' 'ranks = 1' '[problem]' 'log2-box-dim = 4' 'boxes-per-rank = 64' '[options]' 'smooths = 1'
refuse 2 'all runs of a model must have one value of smooths: .*lazy has 1, .*small has 3' model small lazy
sed -i 's/"smoother": "jacobi"/"smoother": "gsrb"/; s/"messages"/"massages"/g' other/runs/n4.2.json
refuse 2 'n4.2.json does not count messages; a model needs --levels-breakdown' model other
sed -i 's/"massages"/"messages"/g; s/"ranks": 4/"ranks": 3/' other/runs/n4.2.json
refuse 3 'n4.2.json has 3 ranks, the plan has 4; remove it' model other
sed -i 's/"ranks": 3/"ranks": 4/; s/"levels": \[{/&"old": 1}, {/' other/runs/n4.2.json
refuse 2 'the levels of .*n4.2.json differ from the plan of .*; set --program to the program that ran it' model other
truncate -s 100 other/runs/n4.2.json
good model other --to=64
grep -q '^scaling: warning: .*/n4.2.json is damaged and skipped' err || complain "damaged report: $(cat err)"
# Ranks that share a GPU.
cp -r gpu shared
echo 'warning: host: ranks 0-1: the same GPU, 0, on which they take turns' >>shared/runs/n2.bind
good model shared --to=8
grep -q '^scaling: warning: n2: .*the same GPU, .*; the model assumes one GPU per rank' err || complain "shared GPUs: $(cat err)"
# Runs with two ranks never have a second message, so its cost is unknown.
cp -r gpu two
rm two/runs/n[48].*.json
refuse 2 'the runs do not determine message.cuda; add points that do, or set it, for example --assume=message.cuda=5us|too few' \
  model two --to=8

finish
