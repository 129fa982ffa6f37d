import { describe, expect, it } from 'vitest'
import type { RequestIdHeader } from '../../src/ports/telemetry.js'
import { createRequestContext } from '../../src/system/loggers.js'

const lifetime = { clock: { now: () => 0 }, timeoutMs: 15_000 }

/** The ids that the lines of one request get, and how many were made. */
function idsOf(header: RequestIdHeader | undefined, headers: Readonly<Record<string, string>>) {
  let made = 0
  const context = createRequestContext(header, () => `made ${++made}`, lifetime)
  const request = { header: (name: string) => headers[name] }
  const ids = context.inRequest('getMe', request, () =>
    [0, 1].map(() => context.current()?.requestId()),
  )
  expect(new Set(ids).size).toBe(1)
  return { id: ids[0], made }
}

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'

describe('the id of a request', () => {
  it('is made where the host names no header', () => {
    const headers = { 'x-request-id': 'a', traceparent: `00-${trace}-${parent}-01` }
    expect(idsOf(undefined, headers)).toEqual({ id: 'made 1', made: 1 })
    expect(idsOf('x-request-id', {})).toEqual({ id: 'made 1', made: 1 })
  })

  it.each(['a', '0', 'a'.repeat(128), '1-67891233-abcdef012345678912345678', 'a/b+c==', 'f:@._-'])(
    'is that of the proxy: %s',
    (given) => expect(idsOf('x-request-id', { 'x-request-id': given }).id).toBe(given),
  )

  it.each(['', ' ', 'a b', 'a"b', 'a\n', 'é', 'a,b', '{}', 'a'.repeat(129)])(
    'is made in place of %j',
    (given) => expect(idsOf('x-request-id', { 'x-request-id': given }).id).toBe('made 1'),
  )

  it.each([
    `00-${trace}-${parent}-00`,
    `01-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01-more`,
  ])('is that of the trace in %s', (traceparent) =>
    expect(idsOf('traceparent', { traceparent }).id).toBe(trace),
  )

  it.each([
    '',
    trace,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace}-${parent}-01 `,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
  ])('is made in place of that in %j', (traceparent) =>
    expect(idsOf('traceparent', { traceparent }).id).toBe('made 1'),
  )

  it('is not made where no line needs it', () => {
    let made = 0
    const { inRequest } = createRequestContext(undefined, () => `made ${++made}`, lifetime)
    expect(inRequest('getMe', { header: () => undefined }, () => 'done')).toBe('done')
    expect(made).toBe(0)
  })
})
