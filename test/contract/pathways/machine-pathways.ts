import { clientCredentials, oauth2ClientCredentials } from '../../flows/administration-flows.js'
import type { Pathway, Strength } from './pathway.js'

const cells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 invalid_client',
  'a service principal': { cannot: 'it is one' },
  'an unverified address': { cannot: 'its address cannot be confirmed' },
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': { cannot: 'its path is of no surface' },
}

/** A machine is no person. */
const bySecret: Strength = {
  shows: 'the secret of a service account, 256 random bits',
  factors: 1,
  resistsPhishing: 'no',
  aal: null,
  amr: [],
}

export const machinePathways: readonly Pathway[] = [
  { flow: clientCredentials, strength: bySecret, cells },
  { flow: oauth2ClientCredentials, strength: bySecret, cells },
]
