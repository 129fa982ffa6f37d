import { loadPart } from '../errors/index.js'
import type {
  Assertion,
  AssertionRequest,
  AssertionResponse,
  CreationOptions,
  CreationRequest,
  Expected,
  NewCredential,
  RegistrationResponse,
  RequestOptions,
} from './webauthn-checks.js'

export type {
  Assertion,
  AssertionResponse,
  CreationOptions,
  NewCredential,
  RegistrationResponse,
  RequestOptions,
} from './webauthn-checks.js'

// Loaded by the first passkey: hosts without any pay nothing for it.
const checks = () => loadPart('WebAuthn', () => import('./webauthn-checks.js'))

/** For `navigator.credentials.create`. `userHandle` is all the authenticator learns of the account's id. */
export async function creationOptions(asked: CreationRequest): Promise<CreationOptions> {
  return (await checks()).creationOptions(asked)
}

/** For `navigator.credentials.get`. Without `allow`, the person chooses among those of the page. */
export async function requestOptions(asked: AssertionRequest): Promise<RequestOptions> {
  return (await checks()).requestOptions(asked)
}

/** WebAuthn §7.1. Null for whatever does not verify, without a reason: the reply has none either. */
export async function verifyRegistration(
  response: RegistrationResponse,
  expected: Expected,
): Promise<NewCredential | null> {
  return (await checks()).verifyRegistration(response, expected)
}

/** WebAuthn §7.2, up to the signature. Null for whatever does not verify. */
export async function verifyAssertion(
  response: AssertionResponse,
  expected: Expected,
  credential: { readonly id: string; readonly publicKey: string },
): Promise<Assertion | null> {
  return (await checks()).verifyAssertion(response, expected, credential)
}
