import { AssertionError } from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { oauthHost } from '../../contract/oauth/oauth-host.js'
import { type ChangeName, changes } from '../intents/changes.js'
import { type Has, subjectOf } from '../intents/subject.js'
import { overtakings, watchedUsers } from './watched-users.js'

/** The changes of an account that write its user, and what it has before. */
const rows: readonly (readonly [ChangeName, Has])[] = [
  ['password changed', 'nothing'],
  ['password changed', 'an app'],
  ['password reset', 'nothing'],
  ['address changed', 'nothing'],
  ['app added', 'nothing'],
  ['app removed', 'an app'],
  ['passkey added', 'nothing'],
  ['passkey removed', 'a passkey'],
  ['all sessions ended', 'nothing'],
  ['factors reset', 'an app'],
  ['disabled', 'nothing'],
  ['deleted', 'an app'],
  ['role taken', 'nothing'],
  ['tenant left', 'nothing'],
]

const settings = { webauthnMode: 'passwordless', passwordHistoryCount: 0 } as const

/** What the caller is told, where the act is refused; it is refused in order, or it succeeds. */
async function outcomeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act()
    return 'done'
  } catch (error) {
    if (error instanceof AssertionError) return error.message
    throw error
  }
}

describe('an account that another process changes just before a write', () => {
  it.each(rows)('keeps that change: %s, with %s', async (change, has) => {
    const watched = watchedUsers()
    const { wrapBackend } = watched
    const host = await oauthHost({ settings, wrapBackend })
    for (const how of overtakings) {
      let writes = 0
      for (let nth = 1; ; nth += 1) {
        const subject = await subjectOf(host, has)
        watched.overtake(nth, how)
        const outcome = await outcomeOf(async () => changes[change](subject))
        if (!watched.wasOvertaken()) break
        writes += 1
        expect([change, how, nth, ...watched.undone]).toEqual([change, how, nth])
        expect(outcome).not.toMatch(/^5/)
      }
      expect(writes).toBeGreaterThan(0)
    }
  })
})
