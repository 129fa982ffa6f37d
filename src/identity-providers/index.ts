export { type DeclaredProvider, oidc } from './declared-providers.js'
