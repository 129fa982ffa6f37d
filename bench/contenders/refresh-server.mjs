// One endpoint that renews a session, in one process, over as many families as it is told. Each
// contender answers `credentials` with families that were not used yet.
import { createHash, randomUUID, verify } from 'node:crypto'
import express from 'express'
import { contender } from './contender.mjs'
import { copyRow, poolOf, statementsOf, uuidOf, uuidText } from './shared/database.mjs'
import { accessClaims, header, partsOf, signerOf } from './shared/keys.mjs'
import { loopDelay, portOf } from './shared/server.mjs'

const kinds = { postern, 'hand-made': handMade, 'better-auth': betterAuth, 'oidc-provider': oidc }
const delay = loopDelay()
let used = 0
let familyCount = 0
let makeCredential

contender({
  async start(given) {
    const pool = poolOf(given.postgres)
    const { app, credential } = await kinds[given.contender](pool, given)
    await pool.query('vacuum analyze')
    makeCredential = credential
    familyCount = given.families
    return { port: await portOf(app) }
  },
  /** So many families' credentials: a token, or a cookie. */
  credentials({ count }) {
    return Array.from({ length: count }, () => {
      used += 1
      // Families take their turns from all over the table, not page by page.
      return makeCredential(1 + ((used * 7919) % familyCount))
    })
  },
  loopDelay: delay,
  recordStatements: ({ forMs }) =>
    statementsOf(() => new Promise((done) => setTimeout(done, forMs))),
})

const idOf = (number) => uuidText('2', number)

/** One login, and its rows multiplied; the tokens are made as the library makes them. */
async function postern(pool, { key, families }) {
  const { authOn, backendOf, signIn } = await import('./shared/postern.mjs')
  const { expressRouter } = await import('postern/express')
  // The suite of the sweep counts the rows that it removes itself.
  const backend = await backendOf({ store: 'postgres', pool })
  const auth = await authOn({ backend, key }, { sweep: false })
  const { refreshToken, user } = await signIn(auth, 'refresh@example.test')
  const { head, claims } = partsOf(refreshToken)
  const owner = `id = '${user.id}'`
  await copyRow(pool, {
    table: 'postern.client_users',
    where: owner,
    count: families,
    set: { id: uuidOf('1', 'i'), email: `'r' || i || '@example.test'` },
  })
  for (const table of ['client_sessions', 'client_refresh_tokens']) {
    await copyRow(pool, {
      table: `postern.${table}`,
      where: `id = '${claims.sid}'`,
      count: families,
      set: { id: uuidOf('2', 'i'), user_id: uuidOf('1', 'i') },
    })
  }
  const { signed } = signerOf(key)
  const credential = (number) =>
    signed(head, {
      ...claims,
      sub: uuidText('1', number),
      sid: idOf(number),
      jti: randomUUID(),
    })
  return { app: express().disable('x-powered-by').use(expressRouter(auth.client)), credential }
}

/**
 * What a careful engineer writes for this one purpose: the token's signature and claims are checked,
 * one statement replaces the hash of its id if it is still the newest, and both new tokens are signed
 * beside it in the thread pool. No user is read, nothing is limited, no reuse is noticed.
 */
async function handMade(pool, { key, families }) {
  const { publicKey, signed, signedAside } = signerOf(key)
  await pool.query(
    `create table families (sid uuid primary key, user_id uuid not null, hash bytea not null,
      previous bytea, generation int not null, idle_until timestamptz not null,
      ends_at timestamptz not null, revoked_at timestamptz) with (fillfactor = 80)`,
  )
  await pool.query(
    `insert into families select (${uuidOf('2', 'i')})::uuid, (${uuidOf('1', 'i')})::uuid,
      sha256(convert_to(${uuidOf('3', 'i')}, 'UTF8')), null, 1, now() + interval '7 days',
      now() + interval '30 days', null from generate_series(1, ${families}) i`,
  )
  const hashOf = (text) => createHash('sha256').update(text).digest()
  const refreshClaims = (sub, sid, jti) => accessClaims({ typ: 'refresh', sub, sid, jti })
  const checked = (token) => {
    const end = token.lastIndexOf('.')
    const signature = Buffer.from(token.slice(end + 1), 'base64url')
    if (!verify('RSA-SHA256', Buffer.from(token.slice(0, end)), publicKey, signature)) return null
    const { claims } = partsOf(token)
    return claims.typ === 'refresh' && claims.exp > Date.now() / 1000 ? claims : null
  }
  const rotate = (sid, before, after) =>
    pool.query({
      name: 'rotate',
      text: `update families set previous = hash, hash = $3, generation = generation + 1,
        idle_until = now() + interval '7 days' where sid = $1 and hash = $2 and revoked_at is null
        and idle_until > now() and ends_at > now() returning user_id`,
      values: [sid, before, after],
    })
  const app = express().disable('x-powered-by')
  app.post('/refresh', express.json(), async (request, response) => {
    const claims = checked(request.body.refreshToken)
    if (claims === null) return response.status(401).end()
    const { sub, sid, jti } = claims
    const next = randomUUID()
    const [rotated, accessToken, refreshToken] = await Promise.all([
      rotate(sid, hashOf(jti), hashOf(next)),
      signedAside(header, accessClaims({ sub, sid })),
      signedAside(header, refreshClaims(sub, sid, next)),
    ])
    if (rotated.rowCount === 0) return response.status(401).end()
    return response.json({ accessToken, refreshToken })
  })
  const credential = (number) =>
    signed(header, refreshClaims(uuidText('1', number), idOf(number), uuidText('3', number)))
  return { app, credential }
}

/** Its session is renewed on each use (`updateAge: 0`): the row is moved on, the token is the same. */
async function betterAuth(pool, { families }) {
  const { betterAuthOn, cookieOf, signInTo } = await import('./shared/better-auth.mjs')
  const { toNodeHandler } = await import('better-auth/node')
  const auth = await betterAuthOn(pool, { session: { updateAge: 0 } })
  const { cookie, token } = await signInTo(auth, 'refresh@example.test')
  if (!cookie.includes(cookieOf(token))) throw new Error('better-auth signs cookies otherwise')
  await copyRow(pool, {
    table: 'public.user',
    where: 'true',
    count: families,
    set: { id: uuidOf('1', 'i'), email: `'r' || i || '@example.test'` },
  })
  await copyRow(pool, {
    table: 'public.session',
    where: `token = '${token}'`,
    count: families,
    set: { id: uuidOf('2', 'i'), token: uuidOf('3', 'i'), userId: uuidOf('1', 'i') },
  })
  const app = express().disable('x-powered-by')
  app.all('/api/auth/*splat', toNodeHandler(auth))
  return { app, credential: (number) => cookieOf(uuidText('3', number)) }
}

async function oidc(pool, { key, families }) {
  const { firstRefreshToken, postgresAdapter, providerOn } = await import(
    './shared/oidc-provider.mjs'
  )
  const provider = providerOn(await postgresAdapter(pool), key)
  const { grantId, token } = await firstRefreshToken(provider)
  const tokenId = uuidOf('2', 'i')
  const grant = uuidOf('3', 'i')
  const account = uuidOf('1', 'i')
  await copyRow(pool, {
    table: 'public.oidc',
    where: `id = 'Grant:${grantId}'`,
    count: families,
    set: {
      id: `'Grant:' || ${grant}`,
      payload: `payload || jsonb_build_object('jti', ${grant}, 'accountId', ${account})`,
    },
  })
  await copyRow(pool, {
    table: 'public.oidc',
    where: `id = 'RefreshToken:${token}'`,
    count: families,
    set: {
      id: `'RefreshToken:' || ${tokenId}`,
      grant_id: grant,
      payload: `payload || jsonb_build_object('jti', ${tokenId}, 'grantId', ${grant},
        'accountId', ${account})`,
    },
  })
  return { app: provider, credential: idOf }
}
