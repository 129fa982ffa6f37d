import { createWakeableTimer } from '../../concurrency/background-tasks.js'
import { lazily } from '../../concurrency/promises.js'
import { randomToken } from '../../crypto/secrets.js'
import { sweepContentionMs, sweepStartMs } from '../../engine/sweep-schedule.js'
import { describeError } from '../../errors/index.js'
import type { Lease } from '../../ports/backend.js'
import type { Random } from '../../ports/host.js'
import { createLeaseContest } from './lease-contest.js'
import { createSweepWork, type SweepWorkDeps } from './sweep-work.js'

/** Removes what has expired, on the one replica that holds the lease. */
export interface Sweeper {
  /**
   * Stops: waits for a statement under way, takes the gauge's series away and gives the lease
   * back. May be called any number of times.
   */
  close(): Promise<void>
}

export interface SweeperDeps extends SweepWorkDeps {
  readonly lease: Lease
  readonly random: Random
}

/**
 * Begins to contend for the lease in the background and returns at once. Nothing depends on the
 * sweep: while the lease store is unreachable this only logs, and tries again every five minutes.
 */
export function startSweeper(deps: SweeperDeps): Sweeper {
  const { clock, logger, backlog } = deps
  const pause = createWakeableTimer(clock)
  let closing = false
  const contest = createLeaseContest({
    ...deps,
    contender: lazily(() => randomToken(deps.random)),
    wait: pause.wait,
    stopped: () => closing,
  })

  /** One contention and, when it is won, the leadership it brings. The time of the next one. */
  async function takePart(): Promise<number> {
    let since = clock.now()
    const held = await contest.contend(() => {
      since = clock.now()
      backlog.clear()
      pause.wake()
    })
    if (held === null) return since + sweepContentionMs
    const isGood = () => !closing && held.isGood()
    const confirm = async () => {
      await held.renew()
      return isGood()
    }
    const work = createSweepWork(deps, { isGood, confirm })
    try {
      while (isGood()) {
        const due = await work.run()
        if (isGood()) await pause.wait(due - clock.now())
      }
    } finally {
      backlog.clear()
      await held.release()
    }
    return since + sweepContentionMs
  }

  async function run(): Promise<void> {
    let next = clock.now() + sweepStartMs
    while (!closing) {
      // Never longer, though a clock that stepped back says so: no other replica may be left to sweep.
      await pause.wait(Math.min(next - clock.now(), sweepContentionMs))
      if (closing) return
      try {
        next = await takePart()
      } catch (error) {
        logger.warn(
          'the sweep lease could not be reached; contending again in five minutes',
          describeError(error),
        )
        next = clock.now() + sweepContentionMs
      }
    }
  }

  const running = run()
  return {
    close() {
      closing = true
      pause.wake()
      return running
    },
  }
}
