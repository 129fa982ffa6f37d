import { defineModule } from '../../../src/config/define-module.js'
import type { AuthOptions } from '../../../src/options.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'

/** A module of the host with a secret of its own. */
export const mail = defineModule({
  name: 'mail',
  environments: ['production'],
  fields: [{ key: 'password', label: 'Password', type: 'FieldSecret', group: 'Mail' }],
})

const quiet = (): void => {}

/** What both processes over one store have in common. */
export function hostOptions(configKey: string) {
  return {
    configKeys: [{ id: 'test', key: configKey }],
    surfaces: {
      operator: { ...withoutLimits.surfaces.operator, hosts: ['127.0.0.1'] },
      client: { ...withoutLimits.surfaces.client, hosts: ['127.0.0.1'] },
    },
    mailer: { send: async () => {} },
    authorizer: { check: async ({ kind }) => kind === '' },
    hash: cheapHash,
    modules: [mail],
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  } satisfies Partial<AuthOptions>
}
