import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const asynchronous = ['generateKeyPair', 'hkdf', 'pbkdf2', 'scrypt', 'randomFill'] as const
const random = ['randomBytes', 'randomUUID', 'randomInt'] as const
const timers = ['setTimeout', 'setInterval'] as const

type Refused = (name: string) => () => never

function refusing(trips: string[]): Refused {
  return (name) => () => {
    const { stack = name } = new Error(`${name}: a simulated history depends on its seed alone`)
    trips.push(stack)
    throw new Error(stack)
  }
}

/** `new Date()` reads the clock of the machine; `new Date(time)` does not. */
function dateOfNoClock(refused: Refused): DateConstructor {
  return class extends Date {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) refused('new Date()')()
      super(...(given as [number]))
    }

    static override now = refused('Date.now')
  } as unknown as DateConstructor
}

export interface Tripwire {
  /** Where something reached for what is refused, with its stack, also where the error was caught. */
  readonly trips: readonly string[]
  takeBack(): void
}

/**
 * From here on, whatever reaches for the clock, for randomness, for timers or for the thread pool throws, in the library and
 * in its dependencies alike: that would make a history depend on more than its seed.
 * For a process of its own, since a test runner needs timers.
 */
export function tripwire(): Tripwire {
  const trips: string[] = []
  const refused = refusing(trips)
  const undo: (() => void)[] = []
  function replace(target: object, name: string, value: unknown, told: string): void {
    const original: unknown = Reflect.get(target, name)
    if (Reflect.set(target, name, value)) undo.push(() => Reflect.set(target, name, original))
    else throw new Error(`${told} cannot be replaced`)
  }
  for (const name of [...asynchronous, ...random]) {
    replace(crypto, name, refused(`crypto.${name}`), name)
  }
  for (const name of timers) replace(globalThis, name, refused(name), name)
  replace(Math, 'random', refused('Math.random'), 'Math.random')
  const webCrypto: object = Object.getPrototypeOf(globalThis.crypto)
  for (const name of ['getRandomValues', 'randomUUID']) {
    replace(webCrypto, name, refused(`crypto.${name}`), name)
  }
  replace(globalThis, 'Date', dateOfNoClock(refused), 'Date')
  syncBuiltinESMExports()
  return {
    trips,
    takeBack() {
      for (const one of undo.toReversed()) one()
      syncBuiltinESMExports()
    },
  }
}
