import { type DriverCall, type Interceptor, throughInterceptor } from './through.js'

/** The kit's control over an adapter's driver. */
export interface Driver {
  /**
   * Returns the same client, with each answer under the kit's control: held to interleave parallel
   * calls, or lost as in an outage. Wrap the object that the adapter receives: a pool, a `Db`, a Redis
   * client, a SQLite handle, or a plain `query` function. Objects that it returns are wrapped too.
   */
  through<C extends object>(client: C): C
}

export interface DriverControl extends Driver {
  /** The number of answers so far, synchronous ones included. */
  readonly answers: number
  /** Whether no answer so far was a promise. */
  readonly isSynchronous: boolean
  /** Loses every answer from now on. */
  cut(): void
  /** Lets the next command be carried out and loses its answer. */
  loseNextAnswer(): void
  /** Passes answers to another interceptor until the returned function is called. */
  intercept(hand: Interceptor): () => void
}

/** The error of a driver whose connection breaks. */
export function reset({ name }: DriverCall): Error {
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
    before: (call) => hand?.before(call) ?? null,
    async later(call, answer) {
      isSynchronous = false
      answers += 1
      if (hand) return hand.later(call, answer)
      if (!isLost()) return answer
      await answer.catch(() => {}) // the command's own outcome stays hidden
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
    get isSynchronous() {
      return isSynchronous
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
