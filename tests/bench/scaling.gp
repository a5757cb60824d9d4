# SPDX-License-Identifier: BSD-3-Clause
# gnuplot -e "input='scaling.csv'; output_='scaling.svg'" scaling.gp
set terminal svg size 960,420 font "sans,12" background "white"
set output output_
set datafile separator ","
set logscale xy
set format y "10^{%T}"
set format x "10^{%T}"
set key top left
set grid
set multiplot layout 1,2
policies = "none lazy active immediate"
set ylabel "seconds for one realisation"
set xlabel "processes (64 cores)"
plot for [i=1:4] input using (strcol(1) eq word(policies, i) && $2 == 64 ? $3 : NaN):4 \
     every ::1 with linespoints linewidth 2 title word(policies, i), \
     1e-8*x*log(x)/log(2) with lines dashtype 2 linecolor "gray" title "n log n"
set xlabel "cores (100,000 processes)"
plot for [i=1:4] input using (strcol(1) eq word(policies, i) && $2 != 64 ? $2 : NaN):4 \
     every ::1 with linespoints linewidth 2 title word(policies, i)
unset multiplot
