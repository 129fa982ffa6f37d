import { administrator, grant, serviceAccount } from '../../support/people/service-account-steps.js'
import type { Pathway } from './pathway.js'

/** The way of machines, which stands beside everything that is about people. */
export const machinePathways: readonly Pathway[] = [
  {
    of: 'issueServiceToken',
    name: 'client credentials',
    surfaces: ['operator'],
    async prepare({ host }) {
      const account = await serviceAccount(host, await administrator(host))
      return {
        userId: account.id,
        step: ({ from }) =>
          grant(host, account, from === undefined ? {} : { headers: { 'x-forwarded-for': from } }),
      }
    },
    cells: {
      nothing: 'tokens',
      'a second factor': 'tokens',
      'a policy that wants a second factor': 'tokens',
      'a disabled account': '401 invalid_client',
      'a service principal': { cannot: 'it is one' },
      'an unverified address': { cannot: 'its address is one nobody can verify' },
      'guesses at the password used up': 'tokens',
      'requests used up': '429 rate_limited',
      'the other surface': { cannot: 'its path is of no surface' },
    },
  },
]
