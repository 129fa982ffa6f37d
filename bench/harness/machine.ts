import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'

/** A computer, and the Node on it. */
export interface Computer {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  /** The average number of running processes in the minute before the run. */
  readonly loadAtStart: number
  /** The version of the Node that was measured. */
  readonly node: string
}

/** What the figures of a run depend on. */
export interface Machine extends Computer {
  /** Null where there is none. */
  readonly postgres: string | null
  readonly redis: string | null
}

export function describeMachine(
  node: string,
  postgres: string | null,
  redis: string | null,
): Machine {
  return { ...describeComputer(node), postgres, redis }
}

/** `node` is the path of the program. */
export function describeComputer(node: string): Computer {
  return {
    cpu: cpus()[0]?.model.trim() || 'an unnamed CPU',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]}`,
    loadAtStart: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    node: execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(),
  }
}

/** As pages name it. */
export function computerText({ cpu, cores, memoryGiB, system }: Computer): string {
  return `${cores} cores (${cpu}), ${memoryGiB} GiB, ${system}`
}

/** What runs write. */
const written = [
  ...[':!bench/results', ':!docs/performance.md', ':!docs/reliability.md'],
  ...[':!tools/release/results', ':!docs/assurance.md'],
]

/** The commit that is measured, with a `+` when files differ from it. What runs write may differ. */
export function commitOf(root: string): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const changed = git('status', '--porcelain', '--', '.', ...written).trim()
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changed === '' ? '' : '+'}`
  } catch {
    return 'not in a repository'
  }
}
