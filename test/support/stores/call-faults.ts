import { setImmediate as turn } from 'node:timers/promises'
import type { Backend } from '../../../src/ports/backend.js'
import { type Fault, faultPlayer } from '../../../src/testing/faults/fault-player.js'
import { type Around, interceptBackend } from '../../../src/testing/faults/intercept-backend.js'

export type { Fault }

/** A call as it was made. */
export interface BackendCall {
  /** `client_users.update`, `denylist.put`. */
  readonly name: string
  /** `client_users.update #2`: the second call of this name. What runs side by side does not mix
   * these up, as it would the order of all calls. */
  readonly key: string
  readonly kind: 'read' | 'write'
  /** `src/domain/sessions/refresh.ts:162:28`: where the library made it; empty when that is not known. */
  readonly site: string
  /** Whether there is something older for a stale read to give. */
  readonly canBeStale: boolean
}

export interface Window {
  /** All calls since `begin`, in the order they began. */
  readonly calls: readonly BackendCall[]
  /** How many of the planned faults have struck. */
  readonly struck: number
}

export interface CallFaults {
  readonly backend: Backend
  /**
   * Counts calls anew; the calls whose keys the plan names meet its faults.
   * `onHang` is told of each that will never answer.
   */
  begin(plan?: ReadonlyMap<string, Fault>, onHang?: () => void): Window
  /** Resolves when no call is being carried out; one that hangs is not. */
  idle(): Promise<void>
  /** The backend is well again; what was held back happens first. */
  heal(): Promise<void>
}

/** In every injected message, and never to be seen by a caller. */
export const leakMarker = 'db-primary.internal:5432'

/** Calls of the library's own background work, which belong to no request. */
const background = /^lease\.|\.sweep$|\.due$/

/** The first of the library's own files on a stack; what wraps a store only hands calls on. */
const caller = /src\/(domain\/(?!context\/open-collections)[a-z/-]+|stores\/pages)\.ts:\d+:\d+/

const writes = /\.(insert|update|take|put|hit|forgive)$/

interface OpenWindow {
  readonly calls: BackendCall[]
  readonly plan: ReadonlyMap<string, Fault>
  readonly onHang: () => void
  struck: number
}

/** A backend whose calls are counted and can be made to fail one by one. */
export function callFaults(inner: Backend): CallFaults {
  let open: OpenWindow | null = null
  let running = 0
  const player = faultPlayer((name) => new Error(`${name}: the connection to ${leakMarker} broke`))

  const around: Around = async (name, given, older = () => null) => {
    const work: typeof given = async () => {
      running += 1
      try {
        return await given()
      } finally {
        running -= 1
      }
    }
    const window = open
    if (window === null || background.test(name)) return work()
    const number = window.calls.length
    const nth = window.calls.filter((call) => call.name === name).length + 1
    const call = callOf(name, nth)
    window.calls.push(call)
    if (player.isDown) return player.strike('before', { name, work, older })
    const fault = window.plan.get(call.key)
    if (fault !== undefined) {
      window.struck += 1
      return player.strike(fault, { name, work, older }, window.onHang)
    }
    const result = await work()
    if (call.kind === 'read' && older(result) !== null) window.calls[number] = stalable(call)
    return result
  }

  return {
    backend: interceptBackend(inner, around, { keepsVersions: true }),
    begin(plan = new Map(), onHang = () => {}) {
      open = { calls: [], plan, onHang, struck: 0 }
      return open
    },
    async idle() {
      while (running > 0) await turn()
    },
    async heal() {
      open = null
      player.heal()
      await player.deliverLate()
    },
  }
}

/** The call under way; its place in the library is read off the stack it is made on. */
function callOf(name: string, nth: number): BackendCall {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 40
  const here = new Error('here')
  Error.stackTraceLimit = stackTraceLimit
  return {
    name,
    key: `${name} #${nth}`,
    kind: writes.test(name) ? 'write' : 'read',
    canBeStale: false,
    // Only on demand: to write out a stack takes longer than the call.
    get site() {
      return siteOf(here)
    },
  }
}

/** Places in the sources, by those in what runs. */
const sites = new Map<string, string>()

/** Writes out one line of a stack: each line has to be looked up in the maps of the sources. */
function siteOf(error: Error): string {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (_, frames) => {
    const frame = frames.find((one) => caller.test(`${one.getFileName()}:1:1`))
    if (frame === undefined) return ''
    const place = `${frame.getFileName()}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
    const line = () => String(prepareStackTrace?.(error, [frame]) ?? frame)
    const site = sites.get(place) ?? line().match(caller)?.[0] ?? ''
    sites.set(place, site)
    return site
  }
  const site = error.stack ?? ''
  Error.prepareStackTrace = prepareStackTrace
  return site
}

function stalable(call: BackendCall): BackendCall {
  const { name, key, kind } = call
  return {
    ...{ name, key, kind, canBeStale: true },
    get site() {
      return call.site
    },
  }
}
