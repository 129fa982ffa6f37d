// oidc-provider with refresh tokens that rotate on each use, access tokens and ID tokens that are
// signed by RS256, and one confidential client.
import { randomUUID } from 'node:crypto'
import Provider from 'oidc-provider'
import { signerOf } from './keys.mjs'

const resource = 'https://api.example.test'
export const client = { id: 'c', secret: 'bench-secret-bench-secret-bench-secret' }

/** One table for every model, as the adapters among the project's examples have it. */
export async function postgresAdapter(pool) {
  await pool.query(
    `create table if not exists oidc (id text primary key, payload jsonb not null, grant_id text,
      uid text, expires_at timestamptz, consumed_at timestamptz) with (fillfactor = 80)`,
  )
  await pool.query('create index if not exists oidc_grant on oidc (grant_id)')
  await pool.query('create index if not exists oidc_uid on oidc (uid)')
  const run = async (name, text, values) => (await pool.query({ name, text, values })).rows[0]
  return class {
    constructor(model) {
      this.key = (id) => `${model}:${id}`
    }
    async upsert(id, payload, expiresIn) {
      await run(
        'upsert',
        `insert into oidc (id, payload, grant_id, uid, expires_at)
          values ($1, $2, $3, $4, now() + $5 * interval '1 second')
          on conflict (id) do update set payload = $2, expires_at = excluded.expires_at`,
        [this.key(id), payload, payload.grantId, payload.uid, expiresIn ?? 86_400],
      )
    }
    async find(id) {
      const row = await run(
        'find',
        'select payload, consumed_at from oidc where id = $1 and expires_at > now()',
        [this.key(id)],
      )
      if (!row) return undefined
      if (row.consumed_at === null) return row.payload
      return { ...row.payload, consumed: Math.floor(Number(row.consumed_at) / 1000) }
    }
    async findByUid(uid) {
      return (await run('uid', 'select payload from oidc where uid = $1', [uid]))?.payload
    }
    async findByUserCode() {}
    async consume(id) {
      await run('consume', 'update oidc set consumed_at = now() where id = $1', [this.key(id)])
    }
    async destroy(id) {
      await run('destroy', 'delete from oidc where id = $1', [this.key(id)])
    }
    async revokeByGrantId(grantId) {
      await run('revoke', 'delete from oidc where grant_id = $1', [grantId])
    }
  }
}

/** In memory, without the eviction of the bundled adapter, which keeps 1,000 entries. */
export function memoryAdapter() {
  const all = new Map()
  return class {
    constructor(model) {
      this.key = (id) => `${model}:${id}`
    }
    async upsert(id, payload) {
      all.set(this.key(id), payload)
    }
    async find(id) {
      return all.get(this.key(id))
    }
    async findByUid() {}
    async findByUserCode() {}
    async consume(id) {
      const payload = all.get(this.key(id))
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    }
    async destroy(id) {
      all.delete(this.key(id))
    }
    async revokeByGrantId(grantId) {
      for (const [id, payload] of all) if (payload.grantId === grantId) all.delete(id)
    }
  }
}

export function providerOn(adapter, key) {
  const { privateKey } = signerOf(key)
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }
  const provider = new Provider('http://127.0.0.1:25997', {
    adapter,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirect_uris: ['https://app.example.test/cb'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'RS256',
      },
    ],
    jwks: { keys: [jwk] },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'api'],
    cookies: { keys: ['bench'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'api',
          audience: resource,
          accessTokenTTL: 900,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: {
      AccessToken: 900,
      RefreshToken: 604_800,
      Grant: 2_592_000,
      ClientCredentials: 900,
      IdToken: 900,
    },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  provider.on('server_error', (_context, error) => console.error(error))
  return provider
}

/** The first refresh token of a grant, as a finished authorization code flow leaves it. */
export async function firstRefreshToken(provider) {
  const found = await provider.Client.find(client.id)
  const accountId = randomUUID()
  const scope = 'openid offline_access'
  const grant = new provider.Grant({ accountId, clientId: client.id })
  grant.addOIDCScope(scope)
  grant.addResourceScope(resource, 'api')
  const grantId = await grant.save()
  const token = new provider.RefreshToken({
    client: found,
    accountId,
    grantId,
    scope: `${scope} api`,
    gty: 'authorization_code',
    resource,
    authTime: Math.floor(Date.now() / 1000),
    expiresWithSession: false,
  })
  return { grantId, token: await token.save() }
}
