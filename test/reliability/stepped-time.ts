import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { monotonic } from './moving-clock.js'
import type { Replica } from './replicas.js'
import type { Settled, TimeFile } from './stepped-clock.js'

/**
 * The time of replicas, stepped from one timer that is due to the next. A step ends when every
 * replica has done what it leads to, so a slow machine takes longer and shows the same.
 */
export interface SteppedTime {
  readonly clock: TimeFile
  now(): number
  join(replica: Replica): Promise<void>
  /** A replica that is stopped or gone; `join` brings it back. */
  leave(replica: Replica): void
  /** Goes on to the next timer that is due, or to `latest` where that is earlier. */
  step(latest?: number): Promise<void>
  goOnTo(time: number): Promise<void>
  close(): void
}

/** `onStep` is told of every new time, before the replicas see it; `rate` is the fastest pace. */
export function steppedTime(
  start: number,
  rate: number,
  onStep: (now: number) => Promise<void>,
): SteppedTime {
  const folder = mkdtempSync(join(tmpdir(), 'postern-time-'))
  const timeFile = join(folder, 'now')
  const file = openSync(timeFile, 'w')
  const bytes = Buffer.alloc(8)
  const present = new Map<Replica, number>()
  /** A replica that was stopped answers late, and is asked nothing else before. */
  const asked = new Map<Replica, Promise<Settled>>()
  let time = start
  let reachedAt = monotonic()
  write()

  function write(): void {
    bytes.writeDoubleLE(time)
    writeSync(file, bytes, 0, 8, 0)
  }

  async function settle(replica: Replica): Promise<void> {
    await asked.get(replica)
    const answer = replica.control('settle', null).finally(() => asked.delete(replica))
    asked.set(replica, answer)
    const { nextDue } = await answer
    if (present.has(replica)) present.set(replica, nextDue ?? Number.POSITIVE_INFINITY)
  }

  async function step(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const next = Math.max(time, Math.min(latest, ...present.values()))
    if (next === Number.POSITIVE_INFINITY) throw new Error('no timer is set')
    await wait(Math.max(0, reachedAt + (next - time) / rate - monotonic()))
    reachedAt = monotonic()
    await onStep(next)
    time = next
    write()
    await Promise.all([...present.keys()].map(settle))
  }

  return {
    clock: { timeFile },
    now: () => time,
    async join(replica) {
      present.set(replica, time)
      await settle(replica)
    },
    leave: (replica) => void present.delete(replica),
    step,
    async goOnTo(end) {
      while (time < end) await step(end)
    },
    close() {
      closeSync(file)
      rmSync(folder, { recursive: true })
    },
  }
}
