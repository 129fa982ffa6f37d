import { randomBytes } from 'node:crypto'
import { ConfigValidationError, defineModule } from '../../../src/config/index.js'
import type { Authorizer } from '../../../src/ports/host.js'
import { forge } from '../../crypto/forge.js'
import {
  type ContractHost,
  type HostKind,
  type HostOptions,
  memoryHost,
} from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testSigningKey } from '../../support/keys.js'
import { type Person, signedInPerson } from '../../support/people/people.js'

/** A module of a host's own, with something of everything. */
export function mailModule(
  validators: Pick<Parameters<typeof defineModule>[0], 'validatePatch' | 'validateActivation'> = {},
) {
  const mail = defineModule({
    name: 'mail',
    environments: ['production', 'sandbox', 'spare'],
    fields: [
      { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Mail', envVar: 'MAIL_SENDER' },
      {
        key: 'password',
        label: 'Password',
        type: 'FieldSecret',
        group: 'Mail',
        envVar: 'MAIL_PASSWORD',
      },
      { key: 'token', label: 'Token', type: 'FieldString', secret: true, group: 'Mail' },
      {
        key: 'port',
        label: 'Port',
        type: 'FieldInt',
        group: 'Mail',
        default: '25',
        min: 1,
        max: 65535,
      },
      { key: 'secure', label: 'Secure', type: 'FieldBool', group: 'Mail', default: 'true' },
      {
        key: 'hooks',
        label: 'Hooks',
        type: 'FieldRecordList',
        group: 'Mail',
        items: [
          { key: 'url', label: 'URL', type: 'FieldString' },
          { key: 'key', label: 'Key', type: 'FieldSecret' },
        ],
      },
      {
        key: 'few',
        label: 'Few',
        type: 'FieldRecordList',
        group: 'Mail',
        max: 2,
        items: [
          { key: 'kind', label: 'Kind', type: 'FieldSelect', options: ['a', 'b'], required: true },
          {
            key: 'extra',
            label: 'Extra',
            type: 'FieldString',
            required: true,
            condition: { field: 'kind', equals: 'b' },
          },
        ],
      },
    ],
  })
  const validated: typeof mail = { ...mail, ...validators }
  return validated
}

/** Lets everybody do everything. */
const permissive: Authorizer = { check: async () => true }

export interface ConfigHost extends ContractHost {
  readonly operator: Person & { readonly bearer: string }
  /** `GET` below `/v1/admin/modules`, by the operator. */
  get(path: string): Promise<Reply>
  /** A change below `/v1/admin/modules/mail`, by the operator. */
  change(method: 'PATCH' | 'PUT', path: string, body: unknown): Promise<Reply>
  /** `PATCH` of an environment of `mail`. */
  patch(body: unknown, environment?: string): Promise<Reply>
  /** The environment as it is read. */
  read(environment?: string): Promise<Record<string, never>>
  /** What the database holds of it. */
  raw(
    environment?: string,
    module?: string,
  ): Promise<{ revision: number; values: Record<string, string> }>
  /** Adds values to what the database holds of `mail`, past every check of the library. */
  plant(values: Readonly<Record<string, string>>): Promise<void>
}

/** A host with the module `mail`, and an operator who may do everything. */
export async function configHost(
  options: HostOptions = {},
  kind: HostKind = memoryHost,
): Promise<ConfigHost> {
  const host = await openHost(
    { ...withoutLimits, modules: [mailModule()], authorizer: permissive, ...options },
    kind,
  )
  const operator = await signedInPerson(host, 'operator')
  const { bearer } = operator
  const { moduleCollectionsOf } = await import('../../../src/model/configuration.js')
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  const change: ConfigHost['change'] = (method, path, body) =>
    host.send(method, `/v1/admin/modules/mail${path}`, { bearer, body })
  const get: ConfigHost['get'] = (path) => host.send('GET', `/v1/admin/modules${path}`, { bearer })
  return {
    ...host,
    operator,
    get,
    change,
    patch: (body, environment = 'production') =>
      change('PATCH', `/environments/${environment}`, body),
    async read(environment = 'production') {
      const reply = await get(`/mail/environments/${environment}`)
      return reply.json() as Record<string, never>
    },
    async raw(environment = 'production', module = 'mail') {
      const found = await environments.get(`${module}/${environment}`)
      if (found === null) throw new Error(`no environment ${environment}`)
      return { revision: found.revision, values: { ...found.values } }
    },
    async plant(values) {
      const found = await environments.get('mail/production')
      if (found === null) throw new Error('no environment production')
      const { id, revision } = found
      await environments.update(id, { revision }, { values: { ...found.values, ...values } })
    },
  }
}

/** A service account's access token, as the grant will mint it. */
export async function serviceToken(host: ContractHost): Promise<{ id: string; bearer: string }> {
  const id = `service-${randomBytes(6).toString('hex')}`
  const now = host.clock.now()
  await storedIn(host, 'operator').users.insert({
    id,
    kind: 'service',
    email: `${id}@service.invalid`,
    emailAsTyped: `${id}@service.invalid`,
    emailVerifiedAt: null,
    name: 'Robot',
    systemRole: 'guest',
    enabled: true,
    selfRegistered: false,
    passwordHash: null,
    passwordChangedAt: null,
    termsVersion: null,
    memberships: [],
    membershipsRevision: 0,
    sessionEpoch: 0,
    keptSessionId: null,
    keptIntentId: null,
    credentialEpoch: 0,
    deviceEpoch: 0,
    secretsEpoch: 0,
    secretsChangedIn: null,
    createdAt: now,
    updatedAt: now,
    lastLoginAt: null,
    deletingAt: null,
    endedBefore: null,
    lastIntentId: null,
    settledEnrollmentId: null,
    importState: null,
    addressStart: '',
    soleTenant: '',
    createdWeek: 0,
    expiresAt: null,
  })
  const jwks = (await host.send('GET', '/v1/auth/operator/jwks')).json() as {
    keys: readonly { kid: string }[]
  }
  const second = Math.floor(now / 1000)
  const claims = {
    iss: 'https://admin.example.com',
    aud: 'service',
    sub: id,
    jti: randomBytes(8).toString('hex'),
    iat: second,
    exp: second + 900,
    tokenUse: 'access',
    memberships: [],
    amr: [],
    authTime: second,
  }
  const header = { alg: 'RS256', typ: 'at+jwt', kid: jwks.keys[0]?.kid }
  return { id, bearer: forge(header, claims, await testSigningKey()) }
}

/** A validator that refuses with these. */
export function refusing(message: string, code?: string) {
  return () => new ConfigValidationError('sender', message, code)
}
