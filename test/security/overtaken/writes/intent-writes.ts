import { randomUUID } from 'node:crypto'
import { identityOf, memberOf, type OauthHost } from '../../../contract/oauth/oauth-host.js'
import { storedIn, storedUser } from '../../../support/hosts/open-host.js'
import { publicly } from '../../intents/begun.js'
import { starts } from '../../intents/starts.js'
import { subjectOf } from '../../intents/subject.js'
import type { OvertakenWrite, OvertakenWrites } from '../overtaken-write.js'
import { plus, started } from './begun.js'

type Begin = OvertakenWrite['begin']

const account = { subject: '1815', email: 'ada@gmail.com', verified: true }

/** Somebody who signed up with Google, and their account there. */
async function byGoogle(host: OauthHost) {
  await host.signIn('client', 'google', account)
  const { id } = await storedUser(host, 'client', account.email)
  return { id, identity: await identityOf(host, 'client', 'google', account) }
}

const removingIdentity =
  (password: 'has a password' | 'has none'): Begin =>
  async (host) => {
    const { id, identity } = await byGoogle(host)
    const passwordHash = password === 'has none' ? null : 'a hash'
    await storedIn(host, 'client').users.update(id, { enabled: true }, { passwordHash })
    return async () => {
      await host.auth.client.identities.remove(id, identity?.id ?? '')
      return 'done'
    }
  }

const codeShownTwice: Begin = async (host) => {
  const { finish } = await starts['the code of an app'].begin(host)
  await finish()
  return finish
}

/** What begins in one request and ends in another, and the accounts at providers. */
export const intentWrites: OvertakenWrites = {
  'a guess of a waiting login': {
    collection: 'challenges',
    begin: started('a code after a password'),
    changes: { attempts: { value: plus('attempts'), outcome: '200', left: 'goes' } },
  },
  'a mailed link in the place of another': {
    collection: 'intents',
    begin: async (host) => {
      const subject = await subjectOf(host, 'nothing')
      const ask = () => publicly(subject, '/password/forgot', { email: subject.email })
      await ask()
      await host.auth.close()
      return ask
    },
    changes: { secretHash: { value: 'of a link', outcome: '202', left: 'goes on' } },
  },
  'the code of an app': {
    collection: 'challenges',
    begin: started('the code of an app'),
    changes: {
      boundTo: { value: 'of another app', outcome: '400 invalid_token' },
      // It counts as shown a second time.
      attempts: { value: 1, outcome: '400 invalid_token', left: 'goes on' },
    },
  },
  'the challenge of a passkey that is registered': {
    collection: 'challenges',
    write: 'take',
    begin: started('a passkey registered in a session'),
    changes: {
      userId: { value: 'another user', outcome: '400 webauthn_failed' },
      deviceEpoch: { value: plus('deviceEpoch'), outcome: '400 webauthn_failed' },
      credentialEpoch: { value: plus('credentialEpoch'), outcome: '400 webauthn_failed' },
    },
  },
  'the code of an app, and the session it came to': {
    collection: 'challenges',
    nth: 2,
    begin: started('the code of an app'),
    changes: { attempts: { value: 2, outcome: '400 invalid_token' } },
  },
  'the code of an app that comes again': {
    collection: 'challenges',
    nth: 2,
    begin: codeShownTwice,
    changes: {
      boundTo: { value: 'of another app', outcome: '400 invalid_token' },
      attempts: { value: 2, outcome: '400 invalid_token' },
    },
  },
  'an account at a provider that is linked': {
    collection: 'oauth_identities',
    begin: async (host) => {
      const { finish } = await starts['an account at Google linked in a session'].begin(host)
      return async () => memberOf(await finish(), 'error') || 'linked'
    },
    changes: { removingBy: { value: 'a removal', outcome: 'oauth_failed', left: 'goes' } },
  },
  'an account at a provider marked as being removed': {
    collection: 'oauth_identities',
    begin: removingIdentity('has a password'),
    changes: {
      removingBy: { value: 'another removal', outcome: 'done', left: 'goes' },
      userId: { value: randomUUID(), outcome: 'thrown not_found' },
    },
  },
  'the mark of the last account at a provider taken back': {
    collection: 'oauth_identities',
    nth: 2,
    begin: removingIdentity('has none'),
    changes: { removingBy: { value: 'another removal', outcome: 'thrown last_login_method' } },
  },
  'an account at a provider taken from a user who was deleted': {
    collection: 'oauth_identities',
    write: 'take',
    begin: async (host) => {
      const { id } = await byGoogle(host)
      const { users, accountDeletions } = storedIn(host, 'client')
      await users.take(id)
      const note = { id, actorId: null, begunAt: 0, credentialEpoch: 0, deletedAt: 0 }
      await accountDeletions.insert({ ...note, expiresAt: null })
      return async () => {
        const reply = await host.signIn('client', 'google', account)
        return memberOf(reply, 'error') || 'signed in'
      }
    },
    changes: { userId: { value: randomUUID(), outcome: 'signed in' } },
  },
  'an account at a provider taken for an import, since its user never was': {
    collection: 'oauth_identities',
    write: 'take',
    begin: async (host) => {
      const { id, identity } = await byGoogle(host)
      await storedIn(host, 'client').users.take(id)
      await host.clock.advance(61_000)
      const { issuer = '', subject = '' } = identity ?? {}
      const identities = [{ provider: 'google' as const, issuer, subject }]
      const users = [{ email: 'grace@example.org', emailVerified: true, identities }]
      return async () => {
        const { results } = await host.auth.client.users.import({ users })
        return results.map(({ outcome }) => outcome).join()
      }
    },
    changes: {
      userId: { value: randomUUID(), outcome: 'conflict' },
      linkedAt: { value: plus('linkedAt'), outcome: 'conflict' },
    },
  },
  'an account at a provider that was left without its user': {
    collection: 'oauth_identities',
    begin: async (host) => {
      const { id } = await byGoogle(host)
      await storedIn(host, 'client').users.take(id)
      await host.clock.advance(40_000)
      return async () => {
        const reply = await host.signIn('client', 'google', account)
        return memberOf(reply, 'error') || 'signed in'
      }
    },
    changes: {
      userId: { value: randomUUID(), outcome: 'signed in' },
      linkedAt: { value: plus('linkedAt'), outcome: 'signed in', left: 'goes on' },
    },
  },
}
