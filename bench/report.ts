import type { Bench } from 'tinybench'

/** Prints each task's rate as a ratio to the first one's: figures of one run and one machine. */
export function report(bench: Bench): void {
  const rates = bench.tasks.map(({ name, result }) => ({
    name,
    rate: result.state === 'completed' ? result.throughput.p50 : Number.NaN,
  }))
  const reference = rates[0]?.rate ?? Number.NaN
  for (const { name, rate } of rates) {
    console.log(`${(rate / reference).toFixed(2).padStart(8)} x  ${name}`)
  }
}
