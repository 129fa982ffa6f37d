/** A process that uses a module. */
export interface RunningProcess {
  /** How many activations the module had seen when the process began to use it. */
  readonly activations: number
  /** When the process last said that it runs, in epoch milliseconds. */
  readonly seenAt: number
}

/** By an id of the process. */
export type RunningProcesses = Readonly<Record<string, RunningProcess>>

/** How often a process says that it runs. */
export const checkInMs = 5 * 60_000

/** A process that said nothing for so long has crashed: two failed attempts are forgiven. */
const goneAfterMs = 15 * 60_000

/** Whether a process runs that began before the last activation: it may work with values of before. */
export function awaitsRestart(
  {
    activations,
    processes,
  }: { readonly activations: number; readonly processes: RunningProcesses },
  now: number,
): boolean {
  return Object.values(running(processes, now)).some((one) => one.activations < activations)
}

/** With the process seen now, and without those that have crashed. */
export function withProcess(
  processes: RunningProcesses,
  id: string,
  activations: number,
  now: number,
): RunningProcesses {
  return { ...running(processes, now), [id]: { activations, seenAt: now } }
}

/** Without the process, and without those that have crashed. */
export function withoutProcess(
  processes: RunningProcesses,
  id: string,
  now: number,
): RunningProcesses {
  const { [id]: _gone, ...others } = running(processes, now)
  return others
}

function running(processes: RunningProcesses, now: number): RunningProcesses {
  const entries = Object.entries(processes)
  return Object.fromEntries(entries.filter(([, { seenAt }]) => now - seenAt < goneAfterMs))
}
