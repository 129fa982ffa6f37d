// Three answers that came from another issuer, read in turn. Prints the names of the errors.
import { createProviderClients } from '../../src/identity-providers/provider-clients.js'

const clients = createProviderClients({
  clock: { now: () => 0, after: () => () => undefined },
  fetcher: { fetch: async () => ({ status: 500, body: '' }) },
  endpoints: {},
})
const credentials = { clientId: 'a', clientSecret: 'b', tenant: '', teamId: '', keyId: '' }
const secrets = { state: 's', nonce: 'n', codeVerifier: 'v' }
const answer = { parameters: { iss: 'x' }, secrets, redirectUri: 'https://app.example.com/' }
const names: string[] = []
for (let call = 0; call < 3; call += 1) {
  const reading = clients.whoSignedIn('google', credentials, answer)
  names.push(await reading.then(String, (error: Error) => error.name))
}
console.log(JSON.stringify(names))
