// What a page that signs users in by passkey loads.
export { createClient } from '../../src/client/index.js'
export { passkeys } from '../../src/client/passkeys.js'
