import { userProblem } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { type Act, type Actor, actBy } from '../context/actor.js'
import { SecretText } from './secret-text.js'
import { accountRecordOf, type ServiceAccountRecord } from './service-account-record.js'
import type { ServiceAccounts } from './service-accounts.js'
import type { IssuedCredential } from './service-credentials.js'

/** A service account to create. */
export interface NewServiceAccountInput {
  /** A single line of 1 to 100 characters. */
  readonly name: string
  /** A UUID in lower case, so that the call can be repeated. Default: a new one. */
  readonly id?: string
}

/** The changes of a service account; absent members stay. */
export interface ServiceAccountChanges {
  readonly name?: string
  /** False stops grants and permissions at once. */
  readonly enabled?: boolean
}

/** A credential with its secret, which is not kept: this is the one time it is known. */
export interface IssuedServiceCredential {
  readonly credentialId: string
  readonly clientId: string
  readonly clientSecret: SecretText
}

/** Whether this call made the account, and with it a first credential. */
export type CreatedServiceAccount =
  | {
      readonly created: true
      readonly account: ServiceAccountRecord
      readonly credential: IssuedServiceCredential
    }
  | { readonly created: false; readonly account: ServiceAccountRecord }

/** A page of service accounts. */
export interface ServiceAccountList {
  /** Oldest first. */
  readonly accounts: readonly ServiceAccountRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of service accounts to read. */
export interface ServiceAccountListRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/**
 * The service accounts, for the host's code: no permission and no second factor is asked for. `by` names
 * the actor for events and audit records; without an `actorId` that is `host`. Methods throw `AuthError`
 * with the codes named here, `invalid_request` for input of another form, and `service_unavailable` when
 * the store fails.
 */
export interface ServiceAccountAdministration {
  /**
   * Creates an account with its first credential. Where a service account has the id already,
   * `created` is false, and nothing is changed and no secret given. If two calls come at once with one id, one
   * creates it. A call that was cut off may leave a disabled account; then enable it and issue a
   * credential. Throws `invalid_request` for the id of a person or of a deleted account, and `server_busy`.
   */
  create(account: NewServiceAccountInput, by?: Actor): Promise<CreatedServiceAccount>
  list(page?: ServiceAccountListRequest): Promise<ServiceAccountList>
  /**
   * Issues another credential, and revokes none. Throws `service_account_not_found`,
   * `credential_limit_reached` where two are active, and `server_busy`.
   */
  issueCredential(id: string, by?: Actor): Promise<IssuedServiceCredential>
  /** Refused from the next grant on. Throws `credential_not_found`, also for one that is revoked. */
  revokeCredential(id: string, credentialId: string, by?: Actor): Promise<void>
  /** Throws `service_account_not_found`. */
  update(id: string, changes: ServiceAccountChanges, by?: Actor): Promise<ServiceAccountRecord>
}

const maxName = 100
const pageSize = 50
const maxPageSize = 200

export function createServiceAccountAdministration(
  accounts: ServiceAccounts,
): ServiceAccountAdministration {
  return {
    async create(input, by) {
      const { name, id } = inputOf(input)
      const act = hostAct(by)
      const made =
        id === undefined
          ? await accounts.create(name, act)
          : await accounts.createOnce(id, name, act)
      if (made === null) {
        return { created: false, account: accountRecordOf(await accounts.get(id ?? '')) }
      }
      const account = accountRecordOf(made.account)
      return { created: true, account, credential: issuedOf(made.issued) }
    },

    async list(page = {}) {
      const { limit, after } = pageOf(page)
      const { accounts: found, next } = await accounts.list(limit, after)
      return { accounts: found.map(accountRecordOf), next }
    },

    async issueCredential(id, by) {
      const act = hostAct(by)
      const account = await accounts.locate(textOf('id', id))
      return issuedOf(await accounts.issueCredential(account, act))
    },

    async revokeCredential(id, credentialId, by) {
      const [account, credential] = [textOf('id', id), textOf('credentialId', credentialId)]
      await accounts.revokeCredential(account, credential, hostAct(by))
    },

    async update(id, changes, by) {
      const known = changesOf(changes)
      const account = await accounts.locate(textOf('id', id))
      return accountRecordOf(await accounts.update(account, known, hostAct(by)))
    },
  }
}

function hostAct(by: Actor = {}): Act {
  const { actorId, source } = actBy(by)
  return { actorId: actorId ?? 'host', source }
}

function issuedOf({ credential, clientSecret }: IssuedCredential): IssuedServiceCredential {
  const { id: credentialId, clientId } = credential
  return { credentialId, clientId, clientSecret: new SecretText(clientSecret) }
}

function inputOf({ name, id, ...rest }: NewServiceAccountInput): NewServiceAccountInput {
  if (Object.keys(rest).length > 0) throw invalid('members are name and id, and no others.')
  requireName(name)
  return { name, ...(id === undefined ? {} : { id: textOf('id', id) }) }
}

function changesOf({ name, enabled, ...rest }: ServiceAccountChanges): ServiceAccountChanges {
  if (Object.keys(rest).length > 0) throw invalid('changes are name and enabled, and no others.')
  if (name === undefined && enabled === undefined) throw invalid('changes must name something.')
  const problem = userProblem({ enabled })
  if (problem !== null) throw invalid(problem)
  if (name !== undefined) requireName(name)
  return {
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
  }
}

function requireName(name: unknown): void {
  const problem = userProblem({ name })
  const fits = typeof name === 'string' && name.length >= 1 && name.length <= maxName
  if (problem !== null || !fits) {
    throw invalid(problem ?? `name must be a text of 1 to ${maxName} characters.`)
  }
}

function pageOf({ limit = pageSize, after, ...rest }: ServiceAccountListRequest) {
  const isPage = Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize
  if (Object.keys(rest).length > 0 || !isPage) {
    throw invalid(`page is { limit, after }, with a limit from 1 to ${maxPageSize}.`)
  }
  return { limit, after: after === undefined ? null : textOf('after', after) }
}

/** Some databases take an object for a query. */
function textOf(member: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(`${member} must be a text.`)
  return value
}

function invalid(problem: string): AuthError {
  return new AuthError('invalid_request', { detail: `A service account's ${problem}` })
}
