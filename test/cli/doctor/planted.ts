import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'pg'
import type { Clock, PasswordHasher } from 'postern'
import { memory } from 'postern/memory'
import { postgres } from 'postern/postgres'
import { redis } from 'postern/redis'
import { sqlite } from 'postern/sqlite'
import { inject, onTestFinished } from 'vitest'
import { defaultArgon2Params } from '../../../src/engine/passwords.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import type { Configured } from '../../support/cli/configured.js'
import { migratedHost } from '../../support/cli/sound-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { configKey, smallSigningKey } from '../../support/keys.js'
import { spawnRedis } from '../../support/stores/redis.js'
import { newPrefix, singleClients } from '../../support/stores/redis-clients.js'
import { spareSchemas } from '../../support/stores/spare-schemas.js'

/** A misconfiguration, and the one finding that it is. */
export interface Planted {
  readonly check: string
  readonly plant: () => Promise<Configured>
  /** A part of what is said. */
  readonly says: string
}

const dayMs = 86_400_000
const [operator, client] = ['https://admin.example.com', 'https://app.example.com']
const surfacesWith = (own: object) => ({
  operator: { baseUrl: operator },
  client: { baseUrl: client, ...own },
})

/** A Postgres of the test's own schema, and the pool to plant something in it. */
function onPostgres() {
  const pool = new Pool({ connectionString: inject('postgresUrl') ?? '', max: 2 })
  const schema = spareSchemas.take()
  onTestFinished(() => pool.end())
  return { pool, schema, backend: postgres(pool, { schema }) }
}

async function onRedis(settings: Readonly<Record<string, string>>, change: readonly string[] = []) {
  const server = await spawnRedis(settings)
  const { client: connected, close } = await singleClients.ioredis(server.url)
  onTestFinished(async () => {
    await close()
    await server.remove()
  })
  const backend = redis(connected, { keyPrefix: newPrefix() })
  const misconfigure = () => (connected as unknown as Calls).call('config', ['set', ...change])
  return { backend, misconfigure }
}

interface Calls {
  call(command: string, args: readonly string[]): Promise<unknown>
}

/** A clock that is wrong by so much. */
function shifted(ms: number): Clock {
  return {
    now: () => Date.now() + ms,
    after(delay, run) {
      const timer = setTimeout(run, delay)
      return () => clearTimeout(timer)
    },
  }
}

/** One whose hash takes this long by a fake clock. */
function slow(ms: number) {
  const clock = fakeClock()
  const implementation: PasswordHasher = {
    async hash() {
      await clock.advance(ms)
      return '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$dGFn'
    },
    verify: async () => false,
  }
  return { clock, hash: { implementation } }
}

/** As an earlier version, a restored backup or another program left it. */
async function withStored(values: Readonly<Record<string, string>>): Promise<Configured> {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const place = await migratedHost({ backend: sqlite(database) })
  const [row] = database.prepare('select "values" from operator_module_environments').all()
  const stored: Record<string, string> = JSON.parse(String(row?.['values']))
  database
    .prepare('update operator_module_environments set "values" = ?')
    .run(JSON.stringify({ ...stored, ...values }))
  return place
}

async function withKeyFile(now: () => number, rights = 0o600): Promise<Configured> {
  const place = await migratedHost({}, {}, { now })
  await place.run('keys', 'generate')
  await chmod(join(place.folder, '.postern/keys.json'), rights)
  return place
}

async function agedKeyFile(): Promise<Configured> {
  let now = Date.now()
  const place = await withKeyFile(() => now)
  now += 400 * dayMs
  await place.run('keys', 'rotate', '--configuration')
  now += 10 * 60_000
  await place.run('keys', 'rotate', '--configuration')
  return place
}

const google = {
  googleClientEnabled: true,
  googleClientId: 'registered',
  googleClientSecret: 'a-secret-of-the-host',
} as const

function withProvider(status: number | null): Promise<Configured> {
  return migratedHost({
    settings: google,
    fetcher: {
      async fetch() {
        if (status === null) throw new Error('connect ECONNREFUSED 192.0.2.1:443')
        return { status, body: '<html>' }
      },
    },
  })
}

/** Two at least for each check that the command lists. */
export const planted: Readonly<Record<string, Planted>> = {
  'no proxy is trusted, and callers come by https': {
    check: 'proxy',
    plant: () => migratedHost({ trustProxy: false }),
    says: 'all callers share the limits of one',
  },
  'a half of the internet is trusted': {
    check: 'proxy',
    plant: () => migratedHost({ trustProxy: ['10.0.0.0/8', '128.0.0.0/1'] }),
    says: 'whole network 128.0.0.0/1',
  },
  'more proxies are trusted than there are': {
    check: 'proxy',
    plant: () => migratedHost({ trustProxy: 12 }),
    says: 'believes 12 proxies',
  },
  'a cookie reaches the hosts of the other surface': {
    check: 'hosts',
    plant: () => migratedHost({ surfaces: surfacesWith({ cookieDomain: 'example.com' }) }),
    says: 'surfaces.client.cookieDomain covers hosts of the other surface',
  },
  'a cookie that the routes never get': {
    check: 'hosts',
    plant: () =>
      migratedHost({
        surfaces: surfacesWith({ cookieDomain: 'app.example.com', cookiePath: '/identity' }),
      }),
    says: 'surfaces.client.cookiePath is /identity, and the routes are at https://app.example.com/v1/auth',
  },
  'both surfaces share a host': {
    check: 'hosts',
    plant: () => {
      const pages = { verifyEmail: '/users/verify-email', resetPassword: '/users/reset-password' }
      return migratedHost({ surfaces: surfacesWith({ baseUrl: operator, pages }) })
    },
    says: 'Both surfaces are on the host admin.example.com',
  },
  'mails of both surfaces link to one page': {
    check: 'hosts',
    plant: () =>
      migratedHost({
        surfaces: surfacesWith({ pages: { resetPassword: `${operator}/reset-password` } }),
      }),
    says: 'Mails of both surfaces link to https://admin.example.com/reset-password',
  },
  'a page of the other surface may use the session': {
    check: 'hosts',
    plant: () => migratedHost({ surfaces: surfacesWith({ allowedOrigins: [operator] }) }),
    says: 'a host of the other surface',
  },
  'an origin of development is allowed': {
    check: 'hosts',
    plant: () =>
      migratedHost({ surfaces: surfacesWith({ allowedOrigins: ['http://localhost:5173'] }) }),
    says: 'http://localhost:5173',
  },
  'a signing key of 2048 bits': {
    check: 'keys',
    plant: () => migratedHost({ keys: { current: smallSigningKey() } }),
    says: 'keys.current has 2048 bits',
  },
  'a signing key of 400 days': {
    check: 'keys',
    plant: agedKeyFile,
    says: 'The signing key is 400 days old',
  },
  'a key file that others may read': {
    check: 'keys',
    plant: () => withKeyFile(Date.now, 0o644),
    says: 'Other users of this machine may read',
  },
  'a database that was never migrated': {
    check: 'database',
    plant: () => migratedHost({ collectionPrefix: 'new_' }, { collectionPrefix: '' }),
    says: 'The database is behind this version by',
  },
  'an index that was dropped by hand': {
    check: 'database',
    async plant() {
      const { pool, schema, backend } = onPostgres()
      const place = await migratedHost({ backend })
      await pool.query(`drop index "${schema}".client_users_email_key`)
      return place
    },
    says: 'client_users_email_key" was made by a migration, and is gone or not valid',
  },
  'a Redis that evicts keys': {
    check: 'durability',
    async plant() {
      const { backend, misconfigure } = await onRedis({ appendonly: 'yes' }, [
        'maxmemory-policy',
        'allkeys-lru',
      ])
      const place = await migratedHost({ backend })
      await misconfigure()
      return place
    },
    says: '"maxmemory-policy" of the server must be "noeviction"',
  },
  'a Redis that keeps nothing': {
    check: 'durability',
    plant: async () => migratedHost({ backend: (await onRedis({})).backend }),
    says: 'keeps no append-only file',
  },
  'a denylist in a Redis that goes back to a snapshot': {
    check: 'durability',
    async plant() {
      const { backend } = await onRedis({ save: '3600 1' })
      await backend.store.prepare([])
      return migratedHost({ backend: { ...memory(), denylist: backend.denylist } })
    },
    says: 'a restart undoes sign-outs',
  },
  'a machine that is five seconds ahead': {
    check: 'clock',
    plant: () => migratedHost({ backend: onPostgres().backend, clock: shifted(5000) }),
    says: 'seconds ahead of that of postgres',
  },
  'a machine that is an hour behind': {
    check: 'clock',
    plant: () => migratedHost({ backend: onPostgres().backend, clock: shifted(-3_600_000) }),
    says: 'seconds behind that of postgres',
  },
  'a first value in the code that is not the stored one': {
    check: 'settings',
    plant: () =>
      migratedHost({ settings: { totpEnabled: false } }, { settings: { totpEnabled: true } }),
    says: '"auth.totpEnabled" in "production" that the host gives',
  },
  'a first value that no start has stored yet': {
    check: 'settings',
    plant: () => migratedHost({ settings: { totpEnabled: false } }, { settings: {} }),
    says: 'The first value of "auth.totpEnabled" in "production" is not stored yet',
  },
  'a variable that is not the stored value': {
    check: 'settings',
    plant: () =>
      migratedHost(
        { env: { GOOGLE_CLIENT_ID: 'another' } },
        { env: { GOOGLE_CLIENT_ID: 'the-first' } },
      ),
    says: '"auth.googleClientId" in "production" that the host gives',
  },
  'a stored value that its field cannot hold': {
    check: 'settings',
    plant: () => withStored({ totpEnabled: 'perhaps' }),
    says: 'The stored value of "auth.totpEnabled"',
  },
  'a stored list element that no edit may write': {
    check: 'settings',
    plant: () =>
      withStored({
        'registrationAllowedDomains.__items': 'all',
        'registrationAllowedDomains.all.domain': '*.example.org',
        'registrationAllowedDomains.all.surface': 'both',
      }),
    says: '"registrationAllowedDomains.all.domain" ',
  },
  'a product without a name': {
    check: 'settings',
    plant: () => migratedHost({ settings: { totpIssuer: 'Auth' } }),
    says: 'call your product "Auth"',
  },
  'a surface without a login method': {
    check: 'settings',
    plant: () => migratedHost({ settings: { passwordLoginOperatorEnabled: false } }),
    says: 'The operator surface has no login method.',
  },
  'a second factor of which every kind is off': {
    check: 'settings',
    plant: () =>
      migratedHost({
        settings: { mfaPolicyClient: 'required', totpEnabled: false, webauthnMode: 'off' },
      }),
    says: '"mfaPolicyClient" demands a second factor',
  },
  'domains that may register, and mailboxes that are not proved': {
    check: 'settings',
    plant: () =>
      migratedHost({
        settings: {
          emailVerificationRequired: false,
          registrationAllowedDomains: [{ slug: 'ours', domain: 'example.org', surface: 'both' }],
        },
      }),
    says: '"registrationAllowedDomains" keeps no stranger from registering on the client surface:',
  },
  'a secret under a key that is not in the ring': {
    check: 'encryption',
    plant: () =>
      migratedHost(
        { configKeys: [configKey('new')] },
        { configKeys: [configKey('lost')], settings: { githubClientSecret: 'a-secret' } },
      ),
    says: 'No key of configKeys opens the secret "auth.githubClientSecret"',
  },
  'a rotation that is not finished': {
    check: 'encryption',
    plant() {
      const before = configKey('old')
      return migratedHost(
        { configKeys: [configKey('new'), before] },
        { configKeys: [before], settings: { githubClientSecret: 'a-secret' } },
      )
    },
    says: 'is not under the first of configKeys',
  },
  'a key that was typed': {
    check: 'encryption',
    plant: () => {
      const key = Buffer.from('correct horse battery staple 123').toString('base64')
      return migratedHost({ configKeys: [{ id: 'typed', key }] })
    },
    says: 'The configuration key "typed" does not look random',
  },
  'hashes for tests': {
    check: 'hashing',
    plant: () => migratedHost({ hash: cheapHash }),
    says: 'hash.allowWeakHashesForTests is set',
  },
  'hashes that take two seconds': {
    check: 'hashing',
    plant: () => migratedHost(slow(2000)),
    says: 'takes 2000 ms here',
  },
  'hashes that cost nothing': {
    check: 'hashing',
    plant: () => migratedHost(slow(1)),
    says: 'does not pay the costs',
  },
  'more hashes at once than the thread pool has threads': {
    check: 'hashing',
    plant: () => migratedHost({ hash: { params: defaultArgon2Params, concurrency: 8 } }),
    says: "Node's thread pool has 4 threads",
  },
  'a provider that cannot be reached': {
    check: 'providers',
    plant: () => withProvider(null),
    says: 'Google cannot be reached at https://www.googleapis.com/oauth2/v3/certs',
  },
  'a provider whose address answers something else': {
    check: 'providers',
    plant: () => withProvider(404),
    says: 'with the status 404',
  },
}
