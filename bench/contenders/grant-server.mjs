// One token endpoint for machines, in one process: the client credentials grant.
import { randomBytes } from 'node:crypto'
import express from 'express'
import { contender } from './contender.mjs'
import { poolOf, statementsOf } from './shared/database.mjs'
import { accessClaims, header, signerOf } from './shared/keys.mjs'
import { portOf } from './shared/server.mjs'

const kinds = {
  'postern on Postgres': postern,
  'postern on Postgres, by a form': postern,
  'postern in memory': postern,
  'argon2 each time': handMade,
  'oidc-provider in memory': oidc,
  'oidc-provider on Postgres': oidc,
}

contender({
  async start(given) {
    const { app, request } = await kinds[given.contender](given)
    return { port: await portOf(app), request }
  },
  recordStatements: ({ forMs }) =>
    statementsOf(() => new Promise((done) => setTimeout(done, forMs))),
})

async function postern({ contender: name, postgres, key }) {
  const { authOn, backendOf } = await import('./shared/postern.mjs')
  const { serviceAccountOf } = await import('./shared/operator.mjs')
  const { expressRouter } = await import('postern/express')
  const { roleAuthorizer } = await import('postern')
  const backend = name.includes('memory')
    ? await backendOf({ store: 'memory' })
    : await backendOf({ store: 'postgres', pool: poolOf(postgres) })
  const auth = await authOn({ backend, key }, { authorizer: roleAuthorizer() })
  const { clientId, clientSecret } = await serviceAccountOf(auth)
  return {
    app: express().disable('x-powered-by').use(expressRouter(auth.operator)),
    request: name.endsWith('form')
      ? byForm(clientId, clientSecret)
      : byJson(clientId, clientSecret),
  }
}

const byJson = (clientId, clientSecret) => ({
  path: '/v1/auth/token',
  type: 'application/json',
  body: JSON.stringify({ grantType: 'client_credentials', clientId, clientSecret }),
})

/** As OAuth libraries ask: `client_secret_post` of RFC 6749. */
const byForm = (clientId, clientSecret) => ({
  path: '/v1/auth/oauth2/token',
  type: 'application/x-www-form-urlencoded',
  body: String(
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  ),
})

/** The secret's hash is checked at each grant, at the costs that Postern has by default. */
async function handMade({ postgres, key }) {
  const { default: argon2 } = await import('argon2')
  const { signedAside } = signerOf(key)
  const pool = poolOf(postgres)
  await pool.query(
    `create table credentials (client_id text primary key, user_id uuid not null, hash text not null,
      revoked_at timestamptz)`,
  )
  const clientId = `sa_${randomBytes(16).toString('base64url')}`
  const clientSecret = `sas_${randomBytes(32).toString('base64url')}`
  const costs = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
  await pool.query('insert into credentials values ($1, gen_random_uuid(), $2, null)', [
    clientId,
    await argon2.hash(clientSecret, costs),
  ])
  const app = express().disable('x-powered-by')
  app.post('/token', express.json(), async ({ body }, response) => {
    const { rows } = await pool.query({
      name: 'credential',
      text: 'select user_id, hash, revoked_at from credentials where client_id = $1',
      values: [body.clientId],
    })
    const [row] = rows
    const good = row?.revoked_at === null && (await argon2.verify(row.hash, body.clientSecret))
    if (!good) return response.status(401).end()
    const claims = accessClaims({ aud: 'service', sub: row.user_id })
    const accessToken = await signedAside(header, claims)
    return response.json({ accessToken, tokenType: 'Bearer', expiresIn: 900 })
  })
  const body = JSON.stringify({ grantType: 'client_credentials', clientId, clientSecret })
  return { app, request: { path: '/token', type: 'application/json', body } }
}

/** It compares the secret itself, which it keeps in plain text, and signs the token by RS256. */
async function oidc({ contender: name, postgres, key }) {
  const { client, memoryAdapter, postgresAdapter, providerOn } = await import(
    './shared/oidc-provider.mjs'
  )
  const adapter = name.includes('memory')
    ? memoryAdapter()
    : await postgresAdapter(poolOf(postgres))
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
    scope: 'api',
  })
  const type = 'application/x-www-form-urlencoded'
  return { app: providerOn(adapter, key), request: { path: '/token', type, body: String(body) } }
}
