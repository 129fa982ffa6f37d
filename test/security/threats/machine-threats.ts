import assert from 'node:assert/strict'
import type { ContractHost } from '../../support/hosts/hosts.js'
import {
  accountsPath,
  administrator,
  grant,
  type MadeAccount,
  peopleMay,
  revoke,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { openThreatened, type Theft, type Threat, told } from './threat.js'

interface Machine extends MadeAccount {
  /** Of the administrator who made it. */
  readonly bearer: string
}

async function machine(host: ContractHost): Promise<Machine> {
  const { bearer } = await administrator(host)
  return { ...(await serviceAccount(host, { bearer })), bearer }
}

const revokeIt = (host: ContractHost, { bearer, id, credentialId }: Machine) =>
  revoke(host, { bearer }, id, credentialId)

function secretTheft(end: (host: ContractHost, made: Machine) => Promise<unknown>) {
  return async (host: ContractHost): Promise<Theft> => {
    const made = await machine(host)
    return {
      use: async () => told(await grant(host, made)),
      end: () => end(host, made),
      works: '200',
      after: '401 invalid_client',
    }
  }
}

export const machineSecret: Threat = {
  open: (kind) => openThreatened(kind, { authorizer: peopleMay }),
  ends: {
    'its revocation': secretTheft(revokeIt),
    'disabling the account': secretTheft(async (host, { bearer, id }) => {
      const body = { enabled: false }
      const reply = await host.send('PATCH', `${accountsPath}/${id}`, { bearer, body })
      assert.equal(reply.status, 200, reply.text)
    }),
    'deleting the account': secretTheft((host, { id }) => host.auth.operator.users.delete(id)),
  },
  meanwhile: {
    'access tokens that it got before live until they expire': async (host) => {
      const made = await machine(host)
      const authorization = `Bearer ${await tokenOf(host, made)}`
      return {
        use: async () => (await host.auth.operator.authenticate(authorization)).kind,
        end: () => revokeIt(host, made),
        works: 'service',
        after: 'service',
      }
    },
  },
}
