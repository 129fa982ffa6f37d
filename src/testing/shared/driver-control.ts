import { type DriverCall, type Interceptor, throughInterceptor } from './through.js'

/** The kit's hand on an adapter's driver. */
export interface Driver {
  /**
   * The same client, with each of its answers under the kit's control: held to interleave racers,
   * or lost to play an outage. Wrap what the adapter is given, a pool, a `Db`, a Redis client, a
   * SQLite handle, or a plain `query` function; objects it hands out are followed.
   */
  through<C extends object>(client: C): C
}

export interface DriverControl extends Driver {
  /** How many answers, at once or later, have passed so far. */
  readonly answers: number
  /** Every answer is lost from now on. */
  cut(): void
  /** The next command is carried out, but its answer is lost. */
  loseNextAnswer(): void
  /** Passes answers to another hand until the returned function is called. */
  intercept(hand: Interceptor): () => void
}

/** What drivers say when a connection breaks. */
function reset({ name }: DriverCall): Error {
  return Object.assign(new Error(`${name}: read ECONNRESET`), { code: 'ECONNRESET' })
}

export function driverControl(): DriverControl {
  let hand: Interceptor | null = null
  let loses: 'none' | 'next' | 'all' = 'none'
  let answers = 0
  // A pool's `release` is no command; only a driver without promises fails at once.
  let isSynchronous = true

  function isLost(): boolean {
    const lost = loses !== 'none'
    if (loses === 'next') loses = 'none'
    return lost
  }

  const interceptor: Interceptor = {
    async later(call, answer) {
      isSynchronous = false
      answers += 1
      if (hand) return hand.later(call, answer)
      if (!isLost()) return answer
      await answer.catch(() => {}) // the command may end as it likes: nobody hears of it
      throw reset(call)
    },
    atOnce(call, answer) {
      answers += 1
      if (hand) hand.atOnce(call, answer)
      else if (isSynchronous && isLost()) throw reset(call)
    },
  }

  return {
    through: (client) => throughInterceptor(client, interceptor),
    get answers() {
      return answers
    },
    cut() {
      loses = 'all'
    },
    loseNextAnswer() {
      loses = 'next'
    },
    intercept(next) {
      hand = next
      return () => {
        hand = null
      }
    },
  }
}
