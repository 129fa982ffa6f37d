import type { HostOptions } from '../support/hosts/hosts.js'
import { peopleMay } from '../support/people/service-account-steps.js'

/** Every person is an administrator. */
export const administratorsMay: HostOptions = { authorizer: peopleMay }
