import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock, Logger } from '../ports/host.js'
import type { InRequest, RequestIdHeader, Untimed } from '../ports/telemetry.js'

type Level = 'info' | 'warn' | 'error'

/**
 * One JSON line per message on standard error, with the time (ISO 8601, UTC); `debug` is dropped. Control characters
 * and line separators are escaped.
 */
export function consoleLogger(clock: Pick<Clock, 'now'>): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (message, fields) => {
      const time = new Date(clock.now()).toISOString()
      const own = { time, level, source: 'postern', message }
      // Once more at the end: no field replaces what the line itself says.
      const line = { ...own, ...fields, ...own }
      process.stderr.write(`${escaped(JSON.stringify(line))}\n`)
    }
  return { debug() {}, info: write('info'), warn: write('warn'), error: write('error') }
}

/** Some terminals act on these, and some readers of lines end one there. JSON leaves them as they are. */
const unescaped = /[\p{Cc}\p{Zl}\p{Zp}]/gu

function escaped(json: string): string {
  return json.replace(unescaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

type Fields = Parameters<Logger['info']>[1]

/**
 * A logger that cannot make a request fail: what it throws or rejects with is dropped. With a context, lines that a
 * request causes also have its `operation` and `requestId`.
 */
export function safeLogger(
  logger: Logger,
  context: Pick<RequestContext, 'current'> | null,
): Logger {
  const wrapped =
    (level: keyof Logger): Logger['info'] =>
    (message, given) => {
      try {
        const request = context?.current() ?? null
        const fields = request === null ? given : ofRequest(request, given)
        const written: unknown = logger[level](message, fields)
        Promise.resolve(written).catch(() => {})
      } catch {
        // There is nowhere left to say so.
      }
    }
  return {
    debug: wrapped('debug'),
    info: wrapped('info'),
    warn: wrapped('warn'),
    error: wrapped('error'),
  }
}

function ofRequest(
  { operation, requestId }: Pick<CurrentRequest, 'operation' | 'requestId'>,
  given: Fields,
): Fields {
  const request = { operation, requestId: requestId() }
  // Twice: first in order, and last in effect.
  return { ...request, ...given, ...request }
}

interface CurrentRequest {
  readonly operation: string
  /** The same at each call. */
  readonly requestId: () => string
  /** When its calls to the backend count as failed, in epoch milliseconds; null for work after its reply. */
  endsAt: number | null
}

/** Follows a request through everything that it causes: each log line can name it, and it has one end. */
export interface RequestContext {
  /** `current` tells of this request within the work, also after it was waited for. */
  readonly inRequest: InRequest
  /** Waits for what the caller sends, which does not count towards the request's time. */
  readonly untimed: Untimed
  /** The request that is being worked on; null where there is none, as in a sweep. */
  current(): Pick<CurrentRequest, 'operation' | 'requestId'> | null
  /** Milliseconds until the request ends, 0 or less after its end; null where nothing ends. */
  restMs(): number | null
  /** Does work that no reply waits for: it is of the same request in the log, and does not end with it. */
  afterReply<T>(work: () => T): T
}

/**
 * Follows requests by Node's own means. Before Node 24 each promise of the process then takes 0.1 µs longer. The id of
 * a request is the one in `header`, or else a new one.
 */
export function createRequestContext(
  header: RequestIdHeader | undefined,
  newId: () => string,
  { clock, timeoutMs }: { readonly clock: Pick<Clock, 'now'>; readonly timeoutMs: number },
): RequestContext {
  const storage = new AsyncLocalStorage<CurrentRequest>()
  return {
    inRequest(operation, request, work) {
      let id: string | undefined
      // Made for the first line: most requests cause none.
      const requestId = () => {
        id ??= (header && givenId(header, request.header(header))) ?? newId()
        return id
      }
      return storage.run({ operation, requestId, endsAt: clock.now() + timeoutMs }, work)
    },
    async untimed(work) {
      const request = storage.getStore()
      const begunAt = clock.now()
      try {
        return await work()
      } finally {
        if (request?.endsAt) request.endsAt += clock.now() - begunAt
      }
    },
    current: () => storage.getStore() ?? null,
    restMs() {
      const endsAt = storage.getStore()?.endsAt ?? null
      return endsAt === null ? null : endsAt - clock.now()
    },
    afterReply(work) {
      const request = storage.getStore()
      return request === undefined ? work() : storage.run({ ...request, endsAt: null }, work)
    },
  }
}

/** Null for a request without one, or with one that is not of a form that proxies write. */
function givenId(header: RequestIdHeader, given: string | undefined): string | null {
  if (given === undefined) return null
  if (header === 'traceparent') return traceIdOf(given)
  return /^[\w.+/=:@-]{1,128}$/.test(given) ? given : null
}

/** The id of the trace (W3C Trace Context §3.2). Later versions may say more behind a hyphen. */
function traceIdOf(traceparent: string): string | null {
  const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
  const [, version, traceId = '', parentId = '', more] = form.exec(traceparent) ?? []
  const isKnown =
    version !== undefined && version !== 'ff' && (version !== '00' || more === undefined)
  return isKnown && /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : null
}
