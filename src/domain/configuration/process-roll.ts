import { createWakeableTimer } from '../../concurrency/background-tasks.js'
import { lazily } from '../../concurrency/promises.js'
import { uuidv7 } from '../../crypto/secrets.js'
import {
  checkInMs,
  type RunningProcesses,
  withoutProcess,
  withProcess,
} from '../../engine/configuration/running-processes.js'
import { describeError } from '../../errors/index.js'
import type { Module } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps } from './config-views.js'

/** This process among those that use the modules. */
export interface ProcessRoll {
  /**
   * Writes down that this process uses a module from now on, before it reads a value: what it reads later is of the
   * activations it has written down, or of later ones. Checks in every five minutes from then on. Throws 503.
   */
  join(module: string): Promise<void>
  /** The processes of a module about to be written, with this one among them. */
  withOwn(module: Module): RunningProcesses
  /** Writes down that this process is at its end. Never rejects. */
  close(): Promise<void>
}

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'random' | 'logger'>

/** More than there can be processes that start at once. */
const attempts = 1000

export function createProcessRoll({ collections, clock, random, logger }: Deps): ProcessRoll {
  const { modules } = collections
  // Made when it is needed first: a construction without a module waits for no randomness.
  const ownId = lazily(() => uuidv7(clock.now(), random))
  const pause = createWakeableTimer(clock)
  /** The activations that there were when this process began to use each module. */
  const joined = new Map<string, number>()
  let loop: Promise<void> | null = null
  let closing = false

  /** Null where there is no such module any more. */
  function write(module: string, next: (seen: Module) => RunningProcesses): Promise<Module | null> {
    return retryOnConflict(attempts, async () => {
      const seen = await modules.get(module)
      if (seen === null) return null
      const { revision } = seen
      const set = { processes: next(seen), revision: revision + 1 }
      return (await modules.update(module, { revision }, set)) ?? conflict
    })
  }

  function withOwn({ id: module, activations, processes }: Module): RunningProcesses {
    return withProcess(processes, ownId(), joined.get(module) ?? activations, clock.now())
  }

  async function checkIn(): Promise<void> {
    while (!closing) {
      await pause.wait(checkInMs)
      for (const module of joined.keys()) {
        if (closing) return
        try {
          await write(module, withOwn)
        } catch (error) {
          logger.warn(
            'a process could not say that it still runs; it tries again in five minutes',
            describeError(error),
          )
        }
      }
    }
  }

  return {
    withOwn,

    async join(module) {
      if (closing) return
      const written = await write(module, withOwn)
      const own = written?.processes[ownId()]
      if (own === undefined) return
      joined.set(module, own.activations)
      loop ??= checkIn()
    },

    async close() {
      closing = true
      pause.wake()
      await loop
      for (const module of joined.keys()) {
        try {
          await write(module, ({ processes }) => withoutProcess(processes, ownId(), clock.now()))
        } catch (error) {
          logger.warn(
            'a process could not say that it ends; "needsRestart" counts it for fifteen minutes more',
            describeError(error),
          )
        }
      }
      joined.clear()
    },
  }
}
