import { expect, it } from 'vitest'
import { openHost } from '../support/hosts/open-host.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { signedInPerson } from '../support/people/people.js'
import { spyBackend } from '../support/stores/spy-backend.js'

it('a first start makes no account and no credential', async () => {
  const { backend, calls } = spyBackend()
  const inserted = (): readonly string[] => [
    ...new Set(calls.filter((name) => name.endsWith('.insert')).map((name) => name.slice(0, -7))),
  ]
  const host = await openHost({ ...withoutLimits, backend })
  for (const surface of ['operator', 'client'] as const) {
    const path = `/v1/auth/${surface}/login`
    for (const email of ['admin@example.org', 'root@example.org', 'test@example.org']) {
      const reply = await host.send('POST', path, { body: { email, password: 'admin' } })
      expect([reply.status, reply.code]).toEqual([401, 'invalid_credentials'])
    }
  }
  const ofPeople =
    /_(?:users|passkeys|sessions|refresh_tokens|role_bindings)$|totp|backup|credentials/
  expect(inserted().filter((name) => ofPeople.test(name))).toEqual([])
  // The first account is the one that the host makes.
  await signedInPerson(host, 'operator')
  expect(inserted()).toContain('operator_users')
})
