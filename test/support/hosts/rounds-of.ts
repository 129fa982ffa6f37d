/** Rounds of a race that other suites run as well: `full` with the variable `CONTRACT=full`. */
export function roundsOf(full: number, short: number): number {
  return process.env['CONTRACT'] === 'full' ? full : short
}
