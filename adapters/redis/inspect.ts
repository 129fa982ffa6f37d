import type { InspectedProblem, Inspection } from '../../src/ports/inspection.js'
import type { Commands } from './commands.js'
import { refuseEviction } from './prepare.js'

interface Asked {
  /** The host looked at the eviction policy itself. */
  readonly assumeNoEviction: boolean
  /** Users, factors or other documents are kept here, and not the denylist and counters alone. */
  readonly holdsDocuments: boolean
}

/** The server's clock, whether it may evict keys, and what a restart would lose. Changes nothing. */
export async function inspect(commands: Commands, asked: Asked): Promise<Inspection> {
  const [time] = await commands.sendToAll(['time'])
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : []
  const now = seconds === undefined ? null : seconds * 1000 + Math.floor((micros ?? 0) / 1000)
  const problems = [
    ...(await evictionProblems(commands, asked.assumeNoEviction)),
    ...(await persistenceProblems(commands, asked.holdsDocuments)),
  ]
  return { name: 'redis', now, problems }
}

async function evictionProblems(
  commands: Commands,
  assumed: boolean,
): Promise<readonly InspectedProblem[]> {
  try {
    await refuseEviction(commands, assumed)
    return []
  } catch (error) {
    const [problem = '', ...remedy] = messageOf(error)
      .replace(/^redis: /, 'Redis: ')
      .split('; ')
    return [{ kind: 'durability', problem: `${problem}.`, remedy: `${remedy.join('; ')}.` }]
  }
}

const remedy =
  'Set appendonly yes, with appendfsync always, or everysec where the last second may be lost.'

/** One that keeps nothing comes back empty, which is noticed. One that goes back to a snapshot is not. */
async function persistenceProblems(
  commands: Commands,
  holdsDocuments: boolean,
): Promise<readonly InspectedProblem[]> {
  const replies = await commands.sendToAll(['info', 'persistence'])
  const texts = replies.map(String)
  if (
    texts.some((text) => /^aof_enabled:1/m.test(text) && /^aof_last_write_status:err/m.test(text))
  ) {
    const problem = 'Redis cannot write its append-only file.'
    return [
      { kind: 'durability', problem, remedy: 'Look at its log, and at the room on its disk.' },
    ]
  }
  if (texts.every((text) => /^aof_enabled:1/m.test(text))) return []
  if (holdsDocuments) {
    const problem = 'Redis holds documents and keeps no append-only file: a restart loses them.'
    return [{ kind: 'durability', problem, remedy }]
  }
  if (!(await takesSnapshots(commands))) return []
  const problem =
    'Redis keeps snapshots and no append-only file: a restart undoes sign-outs that came after the last one.'
  return [{ kind: 'durability', problem, remedy: `${remedy} Or set save "".` }]
}

/** Hosted servers do not tell; then nothing is claimed. */
async function takesSnapshots(commands: Commands): Promise<boolean> {
  try {
    const replies = await commands.sendToAll(['config', 'get', 'save'])
    return replies.some((reply) => {
      const parts = Array.isArray(reply) ? reply : Object.values(Object(reply))
      return String(parts.at(-1) ?? '') !== ''
    })
  } catch {
    return false
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
