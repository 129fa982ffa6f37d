import { clientCredentials, oauth2ClientCredentials } from '../../flows/administration-flows.js'
import type { Pathway } from './pathway.js'

const cells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 invalid_client',
  'a service principal': { cannot: 'it is one' },
  'an unverified address': { cannot: 'its address is one nobody can verify' },
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': { cannot: 'its path is of no surface' },
}

export const machinePathways: readonly Pathway[] = [
  { flow: clientCredentials, cells },
  { flow: oauth2ClientCredentials, cells },
]
