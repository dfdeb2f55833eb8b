"""Sentences that are hard to part, as papers write them. Where " | " stands, one ends."""

HARD = """
The method of Smith et al. is slower. | Ours is not.
As Smith et al. (2019) show, the bound is tight. | Jones et al. [4] disagree.
This was shown by Lee et al. in 2020. | We follow them.
See Fig. 2. | The curve is flat.
As Fig. 2 shows, the curve is flat. | Figs. 3 and 4 repeat it.
Some methods are exact, i.e. they return the optimum. | Others are not.
Some kernels (e.g. Matern) are rough. | Others, e.g., RBF, are smooth.
We minimise Eq. (3) by gradient descent. | Eqs. (4) and (5) follow.
We compare greedy vs. beam search. | Beam search wins.
The idea is due to J. R. Smith and A. Jones. | It is old.
The idea goes back to D. E. Knuth. | He published it in 1968.
Dr. Miller and Prof. Lee annotated the data. | They agreed on 95% of it.
The p-value was 0.05. | We reject the hypothesis.
Code is at https://example.org/a.b/c.html. | Data are on request.
Visit www.example.org for details. | The licence is MIT.
Let x be the input and y the output. | Then f(x) = y.
We set $\\alpha = 0.1$. | Then $\\beta$ follows.
The loss is $L = \\sum_i l_i$. | It is convex.
Here K is the kernel and N the size of K. | For each K we repeat the test.
We write k for the lag and n for the size. | If k is large, n matters less.
The covariance depends on n and m. | If they are equal, it is one.
What is gained? | Not much! | Yet it is cheap.
"It works," they say. | "It does not," we reply.
They call it "robust." | We do not.
Training took 3 h. on one GPU. | Inference is fast.
The U.S. Census gives the counts. | They are public.
We use Adam, SGD, etc. | All of them work.
Table 3 lists the results, cf. Tab. 4. | They agree.
The paper appeared in Proc. ACL, vol. 3, pp. 4-9. | It won a prize.
No. 5 is the best. | No. 6 is the worst.
It scales to ca. 10 million rows, resp. 2 GB. | More was not tried.
We thank the authors of v1.2. | Version 2.0 is due soon.
Three steps follow: (i) encode, (ii) search, (iii) rank. | Each is cheap.
There are two tasks: 1) constraining the model and 2) comparing it. | Both are hard.
Let us recall Thm. 4 and Lem. 2. | They suffice.
w.r.t. the baseline, the gain is small. | It is significant.
By Cor. 3 the map is open. | Its proof is in the Suppl. Mat. of the paper.
The bound is tight. | Then Fig. S1. shows it once more.
It took 4.1 s. | See the next table.
This is the state of the art. | Gaussian noise does not change it.
See Alg. 1 and Algs. 2-4. | Tbl. 2 and Tbls. 3-4 compare them.
By Thms. 1 and 2 and Props. 3 and 4 it holds. | The proof is short.
The noise is i.i.d. Gaussian. | The errors are i.i.d. | We fit them.
It holds w.l.o.g. for all x and w.h.p. in n. | The bound is tight w.h.p. | It is old.
It is fast, esp. for small n. | We report the max. and std. of five runs.
We report the max. | The mean is lower.
""".strip().splitlines()
