import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { configHost } from '../../contract/config/config-host.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { mailedToken, openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword, signedInApp, signIn } from '../../support/people/people.js'
import { forgot, reset } from '../../support/people/recovery-steps.js'
import {
  comesTo,
  deviceLogin,
  devicesIn,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
const meOf = async (host: ContractHost, surface: Surface, bearer: string) =>
  outcomeOf(await host.send('GET', at(surface, '/me'), { bearer }))
const refreshOf = async (host: ContractHost, surface: Surface, refreshToken: string) =>
  outcomeOf(await host.send('POST', at(surface, '/refresh'), { body: { refreshToken } }))

/** Somebody with a trusted device and three sessions, two of them without what a device stands for. */
async function busyPerson(host: ContractHost, surface: Surface) {
  const who = await trustingPerson(host, surface, 'mobile/login')
  const from = async () => {
    const reply = await deviceLogin(host, surface, who, who.deviceToken, 'mobile/login')
    const body = reply.json()
    return { bearer: String(body['accessToken']), refreshToken: String(body['refreshToken']) }
  }
  return { who, current: await from(), other: await from() }
}

eachSurface.describe('a new password', (surface) => {
  const open = () => {
    const settings = { ...withoutLimits.settings, ...trusting.settings }
    return openHost({ ...withoutLimits, settings })
  }

  it('by a change ends the other sessions and every trusted device, and bars copies of its own token', async () => {
    const host = await open()
    const { who, current, other } = await busyPerson(host, surface)
    const body = { currentPassword: goodPassword, newPassword: otherPassword }
    const changed = await host.send('POST', at(surface, '/me/password'), {
      bearer: current.bearer,
      body,
    })
    expect([changed.status, changed.setCookies]).toEqual([204, []])
    for (const { bearer } of [other, who]) {
      expect(await meOf(host, surface, bearer)).toBe('401 session_revoked')
    }
    expect(await refreshOf(host, surface, other.refreshToken)).toBe('401 session_revoked')
    const again = { email: who.email, password: otherPassword }
    const login = await deviceLogin(host, surface, again, who.deviceToken, 'mobile/login')
    expect(comesTo(login)).toBe('mfaRequired')
    // Its owner goes on; who refreshes second, with the same token, is taken for a thief at once.
    expect(await meOf(host, surface, current.bearer)).toBe('200')
    expect(await refreshOf(host, surface, current.refreshToken)).toBe('200')
    expect(await refreshOf(host, surface, current.refreshToken)).toBe('401 refresh_token_reused')
  })

  it('by a reset ends every session and every trusted device', async () => {
    const host = await open()
    const { who, current, other } = await busyPerson(host, surface)
    await forgot(host, surface, who.email)
    const token = await mailedToken(host, 'resetPassword', who.email)
    expect((await reset(host, surface, token, otherPassword)).status).toBe(204)
    for (const { bearer, refreshToken } of [current, other]) {
      expect(await meOf(host, surface, bearer)).toBe('401 session_revoked')
      expect(await refreshOf(host, surface, refreshToken)).toBe('401 session_revoked')
    }
    const again = { email: who.email, password: otherPassword }
    const login = await deviceLogin(host, surface, again, who.deviceToken, 'mobile/login')
    expect(comesTo(login)).toBe('mfaRequired')
  })
})

type Delete = (host: ContractHost, surface: Surface, id: string, bearer: string) => Promise<unknown>

const deletions: Readonly<Record<string, Delete>> = {
  'its owner': (host, surface, _id, bearer) =>
    host.send('DELETE', at(surface, '/me'), { bearer, body: { currentPassword: goodPassword } }),
  'the host': (host, surface, id) => host.auth[surface].users.delete(id),
}

eachSurface.describe('a user who was deleted', (surface) => {
  it.each(Object.entries(deletions))(
    'by %s comes back in no other: no id twice, no token, link or device of theirs',
    async (_by, remove) => {
      const host = await openHost({
        ...withoutLimits,
        settings: { ...withoutLimits.settings, ...trusting.settings, accountDeletionMode: 'both' },
      })
      const { users } = host.auth[surface]
      const gone = await signedInApp(host, surface)
      await forgot(host, surface, gone.email)
      const link = await mailedToken(host, 'resetPassword', gone.email)
      await remove(host, surface, gone.id, gone.bearer)
      expect(await users.get(gone.id)).toBeNull()

      const { email } = gone
      const again = await users.create({ email, password: goodPassword, emailVerified: true })
      expect(again.id).not.toBe(gone.id)
      const { results } = await users.import({
        users: [{ email: 'other@example.org', id: gone.id }],
      })
      expect(results).toEqual([expect.objectContaining({ outcome: 'refused' })])
      if (surface === 'operator') {
        const made = host.auth.operator.serviceAccounts.create({ name: 'x', id: gone.id })
        await expect(made).rejects.toMatchObject({ code: 'invalid_request' })
      }
      expect(await users.get(gone.id)).toBeNull()

      const known = { ...gone, id: again.id }
      const before = await signIn(host, surface, known)
      expect(decodeJwt(before.bearer).sub).toBe(again.id)
      expect(await meOf(host, surface, gone.bearer)).toBe('401 session_revoked')
      expect(await refreshOf(host, surface, gone.refreshToken)).toBe('401 session_revoked')
      expect(outcomeOf(await reset(host, surface, link, otherPassword))).toBe('400 invalid_token')
      expect(await devicesIn(host, surface, again.id)).toEqual([])
      expect(await meOf(host, surface, before.bearer)).toBe('200')
    },
  )
})

describe('a secret of the configuration', () => {
  const secret = 's3cr3t-of-the-mail-server'

  it('comes back from no reply, and is not overwritten by sending back what was read', async () => {
    const host = await configHost()
    const given = { password: secret, token: `${secret}-too`, sender: 'a@example.org' }
    await host.patch({ config: given })
    const stored = (await host.raw()).values
    const read = await host.read()
    const replies = [
      await host.get(''),
      await host.get('/mail'),
      await host.get('/mail/environments/production'),
      await host.get('/mail/environments/production/revisions'),
      await host.change('PUT', '/active-environment', { environment: 'sandbox' }),
      await host.patch({ config: { password: { $ne: secret } } }),
      await host.patch({ config: { port: 'none' } }),
    ]
    const echoed: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(read['config'] ?? read['values'] ?? {})) {
      echoed[key] = value
    }
    expect(Object.keys(echoed).length).toBeGreaterThan(0)
    replies.push(await host.patch({ config: echoed }))
    expect(replies.at(-1)?.status).toBe(200)
    // As pages do that show a mask: it is a text like any other, and no such text is ever shown.
    expect(JSON.stringify(read)).not.toMatch(/\*\*\*|•/)
    for (const reply of replies) expect(reply.text).not.toContain('s3cr3t')
    const after = (await host.raw()).values
    expect([after['password'], after['token']]).toEqual([stored['password'], stored['token']])
    expect(JSON.stringify([host.events, host.logger.lines])).not.toContain('s3cr3t')
  })
})
