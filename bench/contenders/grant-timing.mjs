// What a machine learns from the time of an answer: a first grant, a wrong secret and an unknown client
// id, each on an instance that has not seen the secret yet. And how often sixteen first grants hash.
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { roleAuthorizer } from 'postern'
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'
import { serviceAccountOf } from './shared/operator.mjs'
import { askerOf, authOn, backendOf, operatorUrl } from './shared/postern.mjs'

/** The binding that the library brings along. */
const argon2 = createRequire(import.meta.resolve('postern'))('argon2')

let hashes = 0

/** argon2 as the library calls it, counted. */
const implementation = {
  hash(password, params, salt) {
    hashes += 1
    const costs = { ...params, salt: Buffer.from(salt), hashLength: 32 }
    return argon2.hash(Buffer.from(password), { ...costs, type: argon2.argon2id })
  },
  verify(phc, password) {
    hashes += 1
    return argon2.verify(phc, Buffer.from(password))
  },
}

let instance

contender({
  start({ postgres, key }) {
    const pool = poolOf(postgres)
    const backend = () => backendOf({ store: 'postgres', pool })
    instance = async () =>
      authOn(
        { backend: await backend(), key },
        {
          authorizer: roleAuthorizer(),
          hash: { implementation },
          sweep: false,
          // Every turn shows wrong secrets, and none of them must meet a lock.
          settings: { grantFailuresPerIp: 1000, grantFailuresPerClient: 100 },
        },
      )
  },
  timings,
  hashesOfFirstGrants,
})

const secret = () => `sas_${randomBytes(32).toString('base64url')}`
const unknownId = () => `sa_${randomBytes(16).toString('base64url')}`

function granting(auth) {
  const ask = askerOf(auth.operator, operatorUrl)
  return (clientId, clientSecret, expected) =>
    ask('POST', '/v1/auth/token', {
      body: { grantType: 'client_credentials', clientId, clientSecret },
      expected,
    })
}

/** Microseconds of CPU of each kind, the least of `repeats`. */
async function timings({ repeats }) {
  const first = await instance()
  const { clientId, clientSecret } = await serviceAccountOf(first)
  await first.close()
  const least = {}
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const auth = await instance()
    const grant = granting(auth)
    await grant(unknownId(), secret(), 401)
    const kinds = [
      ['wrong', () => grant(clientId, secret(), 401)],
      ['unknown', () => grant(unknownId(), secret(), 401)],
      ['first', () => grant(clientId, clientSecret, 200)],
    ]
    for (const [kind, work] of repeat % 2 === 0 ? kinds : kinds.reverse()) {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      least[kind] = Math.min(least[kind] ?? Number.POSITIVE_INFINITY, user + system)
    }
    await auth.close()
  }
  return least
}

async function hashesOfFirstGrants({ grants }) {
  const first = await instance()
  const { clientId, clientSecret } = await serviceAccountOf(first)
  await first.close()
  const auth = await instance()
  const grant = granting(auth)
  await grant(unknownId(), secret(), 401)
  hashes = 0
  const all = Array.from({ length: grants }, () => grant(clientId, clientSecret, 200))
  // A busy machine may answer some of them with 503. What counts is that none of them hashes again.
  const settled = await Promise.allSettled(all)
  if (!settled.some(({ status }) => status === 'fulfilled')) throw settled[0].reason
  const counted = hashes
  await auth.close()
  return counted
}
