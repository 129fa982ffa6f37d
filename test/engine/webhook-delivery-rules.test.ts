import { describe, expect, it } from 'vitest'
import {
  mostAttempts,
  waitAfterAttempt,
  wantsEvent,
} from '../../src/engine/webhook-delivery-rules.js'

describe('waitAfterAttempt', () => {
  it('grows from half a minute over most of a day, and ends', () => {
    const waits = Array.from({ length: mostAttempts }, (_, index) => waitAfterAttempt(index + 1))
    const seconds = waits.map((ms) => (ms === null ? null : ms / 1000))
    expect(seconds).toEqual([30, 120, 300, 1800, 7200, 21_600, 43_200, null])
    expect(waitAfterAttempt(mostAttempts + 1)).toBeNull()
  })
})

describe('wantsEvent', () => {
  it('sorts events into those of logins and those of accounts', () => {
    const types = [
      ...['login.succeeded', 'login.newDevice', 'session.terminated', 'refresh.replayDetected'],
      'refresh.reissued',
      'refresh.unusual',
      ...['password.changed', 'email.changed', 'mfa.changed', 'account.deleted'],
    ]
    expect(types.filter((type) => wantsEvent('all', type))).toEqual(types)
    expect(types.filter((type) => wantsEvent('login', type))).toEqual(types.slice(0, 6))
    expect(types.filter((type) => wantsEvent('account', type))).toEqual(types.slice(6))
  })

  it('leaves out every other event', () => {
    const others = ['refresh.rotated', 'login.failed', 'webhook.failed', 'constructor', '']
    expect(others.filter((type) => wantsEvent('all', type))).toEqual([])
  })
})
