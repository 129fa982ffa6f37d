import {
  ConfigValidationError,
  defineModule,
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from 'postern/config'

/** The settings of an invented shop, as a host declares its own beside those of the library. */
export const shop = defineModule({
  name: 'shop',
  environments: ['live', 'rehearsal'],
  fields: [
    {
      key: 'title',
      label: 'Title',
      type: FieldString,
      group: 'Shop',
      default: 'Corner shop',
      max: 60,
    },
    { key: 'isOpen', label: 'Takes orders', type: FieldBool, group: 'Shop', default: 'true' },
    {
      key: 'currency',
      label: 'Currency',
      type: FieldSelect,
      group: 'Shop',
      options: ['EUR', 'GBP', 'USD'],
      default: 'EUR',
    },
    {
      key: 'basketKept',
      label: 'Baskets are kept',
      type: FieldDuration,
      group: 'Shop',
      default: '14d',
      min: 60 * 60 * 1000,
      max: 90 * 24 * 60 * 60 * 1000,
    },
    { key: 'terms', label: 'Terms of sale', type: FieldString, group: 'Shop', max: 20_000 },
    {
      key: 'minimumOrder',
      label: 'Smallest order',
      type: FieldInt,
      group: 'Prices',
      default: '10',
      max: 1000,
    },
    {
      key: 'freeDeliveryFrom',
      label: 'Free delivery from',
      type: FieldInt,
      group: 'Prices',
      default: '50',
      max: 1000,
    },
    {
      key: 'paymentKey',
      label: 'Key at the payment provider',
      type: FieldSecret,
      group: 'Payment',
      min: 12,
      max: 200,
    },
    {
      key: 'deliveryZones',
      label: 'Delivery zones',
      type: FieldRecordList,
      group: 'Delivery',
      max: 20,
      items: [
        { key: 'countries', label: 'Countries', type: FieldString, required: true, max: 200 },
        { key: 'price', label: 'Price', type: FieldInt, required: true, max: 500 },
        { key: 'express', label: 'Express', type: FieldBool },
        { key: 'carrierToken', label: 'Token of the carrier', type: FieldSecret, max: 200 },
      ],
    },
  ],
  validatePatch: ({ settings: { minimumOrder, freeDeliveryFrom } }) =>
    (freeDeliveryFrom ?? 0) < (minimumOrder ?? 0)
      ? new ConfigValidationError(
          'freeDeliveryFrom',
          '"freeDeliveryFrom" must not be less than the smallest order.',
          'shop.free_delivery_too_low',
        )
      : null,
  validateActivation: ({ settings: { paymentKey } }) =>
    paymentKey === ''
      ? new ConfigValidationError(
          'paymentKey',
          '"paymentKey" is needed before the shop can be switched.',
          'shop.payment_key_missing',
        )
      : null,
})
