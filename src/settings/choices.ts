/** The values of the settings that offer a choice, as stored. */
export const sameSiteValues = ['strict', 'lax', 'none'] as const
export const breachCheckModes = ['off', 'failOpen', 'failClosed'] as const
export const mfaPolicies = ['off', 'optional', 'required'] as const
export const webauthnModes = ['off', 'secondFactor', 'passwordless'] as const
export const userVerifications = ['required', 'preferred'] as const
export const deletionModes = ['off', 'client', 'both'] as const
export const oneSurface = ['operator', 'client'] as const
export const anySurface = ['operator', 'client', 'both'] as const
export const redirectFlows = ['web', 'mobile'] as const
export const webhookEvents = ['all', 'login', 'account'] as const

export type SameSite = (typeof sameSiteValues)[number]
export type BreachCheckMode = (typeof breachCheckModes)[number]
export type MfaPolicy = (typeof mfaPolicies)[number]
export type WebauthnMode = (typeof webauthnModes)[number]
export type UserVerification = (typeof userVerifications)[number]
export type DeletionMode = (typeof deletionModes)[number]
export type OneSurface = (typeof oneSurface)[number]
export type AnySurface = (typeof anySurface)[number]
export type RedirectFlow = (typeof redirectFlows)[number]
export type WebhookEvents = (typeof webhookEvents)[number]
