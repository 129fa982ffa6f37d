import { serviceCredentialsSpec } from '../../../src/model/user.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { storedIn } from '../../support/hosts/open-host.js'
import {
  administrator,
  revoke,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { type Pair, unknown } from './token-endpoint-steps.js'

/** Every pair that must get no token, each as right as it can be. */
export async function refusedIn(host: ContractHost): Promise<Readonly<Record<string, Pair>>> {
  const who = await administrator(host)
  const make = () => serviceAccount(host, who)
  const { users } = storedIn(host, 'operator')
  const good = await make()
  const revoked = await make()
  await revoke(host, who, revoked.id, revoked.credentialId)
  const disabled = await make()
  await host.auth.operator.users.update(disabled.id, { enabled: false })
  const human = await make()
  await users.update(human.id, { kind: 'service' }, { kind: '' })
  const odd = await make()
  await users.update(odd.id, { kind: 'service' }, { kind: 'robot' })
  const gone = await make()
  await users.take(gone.id)
  const damaged = await make()
  const credentials = host.backend.store.collection(serviceCredentialsSpec)
  await credentials.update(damaged.credentialId, { status: 'active' }, { secretHash: 'no hash' })
  const { clientId, clientSecret } = good
  return {
    'unknown client id': { clientId: unknown.clientId, clientSecret },
    'revoked credential': revoked,
    'wrong secret': { clientId, clientSecret: unknown.clientSecret },
    'disabled account': disabled,
    'account of a person': human,
    'account of neither kind': odd,
    'account that is gone': gone,
    'unreadable hash': damaged,
    'client id without its prefix': { clientId: clientId.slice(3), clientSecret },
    'secret without its prefix': { clientId, clientSecret: clientSecret.slice(4) },
    'client id in capitals': { clientId: clientId.toUpperCase(), clientSecret },
    'secret with a space': { clientId, clientSecret: `${clientSecret} ` },
    'secret of 512 characters': { clientId, clientSecret: 'x'.repeat(512) },
    'secret of 513 characters': { clientId, clientSecret: `${clientSecret}${'x'.repeat(466)}` },
    'secret of 50,000 characters': { clientId, clientSecret: 'x'.repeat(50_000) },
    'client id of 10,000 characters': { clientId: `sa_${'x'.repeat(10_000)}`, clientSecret },
    'id of the account': { clientId: good.id, clientSecret },
    'id of the credential': { clientId: good.credentialId, clientSecret },
    'nothing in either': { clientId: '', clientSecret: '' },
    'a client id no store can hold': { clientId: 'sa_\0', clientSecret },
    'a secret no store can hold': { clientId, clientSecret: '\ud800' },
  }
}
