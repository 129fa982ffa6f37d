import type { RecordElement } from '../engine/configuration/record-list.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import { anySurface, oneSurface, redirectFlows, webhookEvents } from './choices.js'
import type { AllowedDomain, RedirectTarget, SecurityWebhook } from './settings.js'

type Warn = (message: string) => void

/**
 * A damaged entry stays, matching no address: were it left out, a list of damaged entries would be
 * an empty list, and that opens registration to every domain.
 */
export function allowedDomains(
  elements: readonly RecordElement[],
  warn: Warn,
): readonly AllowedDomain[] {
  return elements.map((element) => {
    const { slug, label } = element
    const domain = element['domain'] ?? ''
    const surface = choice(anySurface, element['surface'])
    if (domain === '' || surface === null) {
      warn(`Setting "registrationAllowedDomains.${slug}" is incomplete; it matches no address.`)
      return { slug, label, domain: '', surface: 'both', includeSubdomains: false }
    }
    const includeSubdomains = element['includeSubdomains'] === 'true'
    return { slug, label, domain: domain.toLowerCase(), surface, includeSubdomains }
  })
}

/** A damaged entry is left out: nothing is sent back there. */
export function redirectTargets(
  elements: readonly RecordElement[],
  warn: Warn,
): readonly RedirectTarget[] {
  return elements.flatMap((element) => {
    const { slug, label } = element
    const uri = element['uri'] ?? ''
    const surface = choice(oneSurface, element['surface'])
    const flow = choice(redirectFlows, element['flow'])
    const appId = flow === 'mobile' ? (element['appId'] ?? '') : ''
    if (uri === '' || surface === null || flow === null || (flow === 'mobile' && appId === '')) {
      warn(`Setting "oauthRedirectTargets.${slug}" is incomplete; it is left out.`)
      return []
    }
    return [{ slug, label, uri, surface, flow, appId }]
  })
}

/** A damaged entry is left out: nothing is sent unsigned. */
export function securityWebhooks(
  elements: readonly RecordElement[],
  warn: Warn,
): readonly SecurityWebhook[] {
  return elements.flatMap((element) => {
    const { slug, label } = element
    const url = element['url'] ?? ''
    const signingSecret = element['signingSecret'] ?? ''
    const events = choice(webhookEvents, element['events'])
    if (url === '' || signingSecret === '' || events === null) {
      warn(`Setting "securityWebhooks.${slug}" is incomplete; it is left out.`)
      return []
    }
    return [{ slug, label, url, signingSecret, events }]
  })
}

function choice<T extends string>(options: readonly T[], text: string | undefined): T | null {
  return readChoice(options, text ?? '')?.value ?? null
}
