import { expect, it } from 'vitest'
import { createEmit } from '../../../src/domain/events/audit-log.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'

const source = { ip: '192.0.2.1', userAgent: 'Browser/1.0' }
const facts = { actorId: null, targetId: 'u-1' }

function emitting() {
  const clock = fakeClock()
  const events: AuthEvent[] = []
  const emit = createEmit({ surface: 'client', clock, publish: (event) => events.push(event) })
  return { clock, emit, events }
}

it('the header is the surface, the time and the source of the request', () => {
  const { clock, emit, events } = emitting()
  emit('session.allTerminated', source, facts)
  emit('session.allTerminated', null, { ...facts, at: 7 })
  const header = { type: 'session.allTerminated', surface: 'client', at: clock.now() }
  expect(events).toEqual([
    { ...header, ...source, ...facts },
    { ...header, at: 7, ip: null, userAgent: null, ...facts },
  ])
})

it('facts with more members than theirs change nothing of the header', () => {
  const { clock, emit, events } = emitting()
  const forged = { ...facts, type: 'login.succeeded', surface: 'operator', ip: null, at: undefined }
  emit('session.allTerminated', source, forged as never)
  const header = { type: 'session.allTerminated', surface: 'client', at: clock.now() }
  expect(events).toEqual([{ ...header, ...source, ...facts }])
})
