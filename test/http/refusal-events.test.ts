import { expect, it } from 'vitest'
import { createEmit } from '../../src/domain/events/emit.js'
import { AuthError } from '../../src/errors/index.js'
import { refusalEvents } from '../../src/http/refusal-events.js'
import type { AuthEvent } from '../../src/ports/auth-event.js'
import { fakeClock } from '../../src/testing/fake-clock.js'

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
