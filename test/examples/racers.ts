import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { buildPackage } from '../support/package/build-package.js'
import type { Opening, PortCall, Turn } from './racer.js'

/** Several processes, each with a connection of its own to one SQLite file. */
export interface Racers {
  /** Has every process make a call at the same time; what each answered. Rejects when one did. */
  race(callOf: (racer: number) => Opening | PortCall): Promise<readonly unknown[]>
  /** Has one of them make a call. */
  one(call: PortCall): Promise<unknown>
  /** Races so far in which at least two calls were under way at the same moment. */
  readonly overlaps: number
  stop(): Promise<void>
}

export async function startRacers(count: number): Promise<Racers> {
  const built = await buildPackage({ racer: 'test/examples/racer.ts' })
  const racers = Array.from({ length: count }, () => startRacer(built.file('racer')))
  let overlaps = 0
  return {
    async race(callOf) {
      const turns = await Promise.all(racers.map(({ call }, at) => call(callOf(at))))
      if (overlap(turns)) overlaps += 1
      return turns.map(answerOf)
    },
    async one(call) {
      const [first] = racers
      return first && answerOf(await first.call(call))
    },
    get overlaps() {
      return overlaps
    },
    async stop() {
      await Promise.all(racers.map(({ stop }) => stop()))
      built.remove()
    },
  }
}

function startRacer(program: string) {
  // Advanced: it carries the clock's bigints.
  const child = fork(program, { serialization: 'advanced', execArgv: [] })
  const ended = once(child, 'exit')
  return {
    async call(call: Opening | PortCall): Promise<Turn> {
      const told = nextMessage(child)
      child.send(call)
      return told
    },
    async stop(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Rejects when the process ends before it answers. */
function nextMessage(child: ChildProcess): Promise<Turn> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`the racer ended early, code ${code}`))
    child.once('exit', gone)
    child.once('message', (turn) => {
      child.off('exit', gone)
      resolve(turn as Turn) // what racer.ts sends
    })
  })
}

function overlap(turns: readonly Turn[]): boolean {
  const inOrder = [...turns].sort((a, b) => (a.began < b.began ? -1 : 1))
  return inOrder.some((turn, at) => {
    const before = inOrder[at - 1]
    return before !== undefined && turn.began < before.ended
  })
}

function answerOf({ answer }: Turn): unknown {
  if ('failure' in answer) throw new Error(answer.failure)
  return answer.value
}
