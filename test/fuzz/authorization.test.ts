import { expect } from 'vitest'
import { readTokenRequest } from '../../src/engine/client-authentication.js'
import { bearerOf } from '../support/hosts/fetch-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { goodPassword } from '../support/people/people.js'
import { changedText } from './changed.js'
import { fuzz, oneOf } from './fuzz.js'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const basics = ['svc-1:s3cret', 'svc%2D1:a+b', 'a:b:c', ':', 'caf\u00e9:%C3%A9', 'svc:%ff'].map(
  (pair) => `Basic ${base64(pair)}`,
)

/** The half of a pair as another reader of forms has it. */
const decoded = (text: string): string | null =>
  new URLSearchParams(`a=${text.replaceAll('&', '%26')}`).get('a')

fuzz({
  name: 'a Basic header, whose pair is the one that it spells',
  input: (draw) => ({
    authorization: changedText(draw, basics),
    form: {
      grant_type: oneOf(draw, ['client_credentials', 'client_credentials', 'password', '']),
      client_id: oneOf(draw, ['', '', 'svc-1', 'other']),
      client_secret: oneOf(draw, ['', '', '', 'x']),
      scope: oneOf(draw, ['', '', '', 'all']),
    },
  }),
  takes({ authorization, form }) {
    const read = readTokenRequest({ authorization, form })
    if (!read.ok) return false
    expect(form).toMatchObject({ grant_type: 'client_credentials', scope: '' })
    const spelled = /^\s*basic +(\S+)\s*$/i.exec(authorization)?.[1]
    if (read.clientId === '' || spelled === undefined) return false
    if (form.client_secret !== '') return false
    const [id = '', ...rest] = Buffer.from(spelled, 'base64').toString().split(':')
    expect(read).toEqual({
      ok: true,
      clientId: decoded(id),
      clientSecret: decoded(rest.join(':')),
    })
    expect(['', read.clientId]).toContain(form.client_id)
    return true
  },
})

const { auth, clock } = await testAuth()
const account = { email: 'ada@example.org', password: goodPassword }
await auth.client.users.create({ ...account, name: 'Ada', emailVerified: true })
const expired = await bearerOf(auth, account)
await clock.advance(24 * 60 * 60 * 1000)
const token = await bearerOf(auth, account)
const guard = auth.client.guards.requireUser()

fuzz({
  name: 'a Bearer header, which holds the one token that is good, and no more',
  input: (draw) =>
    changedText(draw, [
      ...[`Bearer ${token}`, `bearer   ${token}`, `Bearer ${expired}`, token],
      ...[`Basic ${token}`, `Bearer ${token}, Bearer ${expired}`],
    ]),
  async takes(authorization) {
    const header = (name: string) => (name === 'authorization' ? authorization : undefined)
    const { principal, refusal } = await guard({ header, remoteAddress: '192.0.2.1' }, null)
    expect(principal === null).toBe(refusal !== null)
    if (principal === null) {
      expect(refusal?.status).toBe(401)
      return false
    }
    expect(/^bearer +(.*)$/i.exec(authorization)?.[1]).toBe(token)
    return true
  },
})
