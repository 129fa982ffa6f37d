export { generateURI, NobleCryptoPlugin, ScureBase32Plugin, TOTP } from 'otplib'
