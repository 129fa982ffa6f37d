import { expect, it } from 'vitest'
import { createEmit } from '../../src/domain/events/audit-log.js'
import { AuthError } from '../../src/errors/index.js'
import { refusalEvents } from '../../src/http/refusal-events.js'
import type { AuthEvent } from '../../src/ports/events.js'
import { fakeClock } from '../../src/testing/fake-clock.js'

const tokenOf = (claims: object) =>
  `Bearer header.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`

it('a dead token that is shown from ever new networks is told of eight times an hour, and hides no other', async () => {
  const clock = fakeClock()
  const told: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => told.push(event) })
  const { emitDeadToken } = refusalEvents({ clock, emit })
  const show = (authorization: string | undefined, ip: string) =>
    emitDeadToken('requireUser', new AuthError('session_revoked'), {
      authorization,
      source: { ip, userAgent: null },
    })
  const ada = tokenOf({ sub: 'ada', sid: '1' })
  show(ada, '192.0.2.1')
  for (let n = 0; n < 20_000; n += 1) {
    show(tokenOf({ sub: 'mallory', sid: '2' }), `2001:db8:${n.toString(16)}::1`)
  }
  expect(told).toHaveLength(1 + 8)
  show(ada, '192.0.2.1')
  expect(told).toHaveLength(9)
  // From elsewhere, of another session, and of a machine, which has none.
  show(ada, '198.51.100.1')
  show(tokenOf({ sub: 'ada', sid: '3' }), '192.0.2.1')
  show(tokenOf({ sub: 'machine' }), '192.0.2.1')
  show('Bearer nonsense', '192.0.2.1')
  show(undefined, '192.0.2.2')
  expect(told).toHaveLength(14)
  await clock.advance(3_600_000)
  show(ada, '192.0.2.1')
  expect(told).toHaveLength(15)
})

it('each of two people over a limit behind one address is told of, once a window', async () => {
  const clock = fakeClock()
  const told: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => told.push(event) })
  const { emitRefusal } = refusalEvents({ clock, emit })
  const source = { ip: '198.51.100.1', userAgent: null }
  const refuse = (userId: string | null): void =>
    emitRefusal('me', new AuthError('rate_limited', { retryAfter: 60 }), { source, userId })
  for (const userId of ['ada', 'ada', 'bob', 'bob', null, null, 'ada']) refuse(userId)
  expect(told).toMatchObject([{ userId: 'ada' }, { userId: 'bob' }, { userId: null }])
  await clock.advance(60_000)
  refuse('ada')
  expect(told).toHaveLength(4)
})

it('a user who is refused the same again and again is told of once a minute for each of eight networks', async () => {
  const clock = fakeClock()
  const told: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => told.push(event) })
  const { emitRefusal } = refusalEvents({ clock, emit })
  const refuse = (userId: string | null, ip = '192.0.2.1', operation = 'requirePermission') =>
    emitRefusal(operation, new AuthError('permission_denied'), {
      source: { ip, userAgent: null },
      userId,
    })
  for (let n = 0; n < 1000; n += 1) refuse('mallory')
  expect(told).toHaveLength(1)
  // Another route, another user, and a request without an account are told of still.
  refuse('mallory', '192.0.2.1', 'updateMe')
  refuse('ada')
  refuse(null)
  expect(told).toHaveLength(4)
  for (let n = 0; n < 1000; n += 1) refuse('mallory', `2001:db8:${n.toString(16)}::1`)
  expect(told).toHaveLength(4 + 7)
  await clock.advance(60_000)
  refuse('mallory')
  expect(told).toHaveLength(12)
})

it('a stranger is told of once a minute for each of eight networks, and hides no other', async () => {
  const clock = fakeClock()
  const told: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => told.push(event) })
  const { emitRefusal } = refusalEvents({ clock, emit })
  const refuse = (ip: string | null, operation = 'confirmPasswordReset', code?: 'csrf_rejected') =>
    emitRefusal(operation, new AuthError(code ?? 'invalid_token'), {
      source: { ip, userAgent: null },
      userId: null,
    })
  for (let n = 0; n < 1000; n += 1) refuse('192.0.2.1')
  for (let n = 0; n < 1000; n += 1) refuse(null)
  expect(told).toHaveLength(2)
  // One network by many addresses, and one site by many networks.
  for (let n = 0; n < 1000; n += 1) refuse(`2001:db8:1::${n.toString(16)}`)
  expect(told).toHaveLength(3)
  for (let n = 0; n < 1000; n += 1) refuse(`2001:db8:1:${n.toString(16)}::1`)
  for (let n = 2; n < 256; n += 1) refuse(`192.0.2.${n}`)
  expect(told).toHaveLength(2 + 8 + 7)
  // Another site, another operation and another reason.
  refuse('198.51.100.1')
  refuse('192.0.2.1', 'verifyEmail')
  refuse('192.0.2.1', 'verifyEmail', 'csrf_rejected')
  expect(told).toHaveLength(20)
  await clock.advance(60_000)
  refuse('192.0.2.1')
  expect(told).toHaveLength(21)
})

it('one network over a limit is told of once a window, however many addresses it has', () => {
  const clock = fakeClock()
  const told: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => told.push(event) })
  const { emitRefusal } = refusalEvents({ clock, emit })
  for (let n = 0; n < 1000; n += 1) {
    const source = { ip: `2001:db8:1:1::${n.toString(16)}`, userAgent: null }
    emitRefusal('login', new AuthError('rate_limited', { retryAfter: 60 }), {
      source,
      userId: null,
    })
  }
  expect(told).toHaveLength(1)
})
