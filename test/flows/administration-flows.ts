import {
  accountsPath,
  administrator,
  grant,
  type MadeAccount,
  serviceAccount,
} from '../support/people/service-account-steps.js'
import { administratorsMay } from './administrators-may.js'
import { type Flow, request, signedInFlow } from './flow.js'

/** The way of machines, which stands beside everything that is about people. */
export const clientCredentials: Flow = {
  of: 'issueServiceToken',
  name: 'client credentials',
  options: administratorsMay,
  async prepare({ host }) {
    const account = await serviceAccount(host, await administrator(host))
    return {
      userId: account.id,
      step: ({ from } = {}) =>
        grant(host, account, from === undefined ? {} : { headers: { 'x-forwarded-for': from } }),
    }
  },
}

/** The same as OAuth libraries ask for it. */
export const oauth2ClientCredentials: Flow = {
  of: 'exchangeClientCredentials',
  name: 'client credentials of an OAuth library',
  options: administratorsMay,
  async prepare({ host }) {
    const account = await serviceAccount(host, await administrator(host))
    const { clientId, clientSecret } = account
    const body = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return {
      userId: account.id,
      step: ({ from } = {}) => {
        const headers = from === undefined ? type : { ...type, 'x-forwarded-for': from }
        return host.send('POST', '/v1/auth/oauth2/token', { body, headers })
      },
    }
  },
}

/** What an administrator does to a service account; the path is one below that of all of them. */
const toAccount = (
  of: string,
  name: string,
  method: string,
  pathOf: (account: MadeAccount) => string,
  body?: object,
): Flow => ({
  of,
  name,
  options: administratorsMay,
  async prepare(walk) {
    const { bearer, ...who } = await administrator(walk.host)
    const account = await serviceAccount(walk.host, { bearer })
    const path = `${accountsPath}${pathOf(account)}`
    const given = body === undefined ? { bearer } : { bearer, body }
    return { step: request(walk, method, path, given), userId: who.id, email: who.email }
  },
})

const modules = '/v1/admin/modules'
const environment = `${modules}/auth/environments/production`
const change = { config: { accessTokenTTL: '5m' } }

const toModule = (of: string, name: string, ...sent: readonly [string, string, object?]): Flow => ({
  ...signedInFlow(of, name, () => sent),
  options: administratorsMay,
})

export const administrationFlows: readonly Flow[] = [
  clientCredentials,
  oauth2ClientCredentials,
  toAccount('listServiceAccounts', 'the accounts', 'GET', () => ''),
  toAccount('createServiceAccount', 'with its first credential', 'POST', () => '', {
    name: 'Import',
  }),
  toAccount('getServiceAccount', 'the account', 'GET', ({ id }) => `/${id}`),
  toAccount('updateServiceAccount', 'another name', 'PATCH', ({ id }) => `/${id}`, {
    name: 'Import',
  }),
  toAccount('issueServiceCredential', 'a second one', 'POST', ({ id }) => `/${id}/credentials`),
  toAccount(
    'revokeServiceCredential',
    'the only one',
    'DELETE',
    ({ id, credentialId }) => `/${id}/credentials/${credentialId}`,
  ),
  toModule('listModules', 'the modules', 'GET', modules),
  toModule('getModule', 'the module', 'GET', `${modules}/auth`),
  toModule('updateModule', 'one text', 'PATCH', `${modules}/auth`, change),
  toModule('getEnvironment', 'the environment', 'GET', environment),
  toModule('updateEnvironment', 'one text', 'PATCH', environment, change),
  toModule('setActiveEnvironment', 'another one', 'PUT', `${modules}/auth/active-environment`, {
    environment: 'sandbox',
  }),
  toModule('listEnvironmentRevisions', 'the revisions', 'GET', `${environment}/revisions`),
]
