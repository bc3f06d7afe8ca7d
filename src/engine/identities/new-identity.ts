/** The fields of an identity that nobody asked anything special for. */
export const PLAIN_IDENTITY = {
  isAdmin: false,
  isDefaultAdmin: false,
  roleAttributes: [],
  externalId: null,
  authPolicyId: 'default',
  appData: {},
  defaultHostingCost: 0,
  defaultHostingPrecedence: 'default',
  serviceHostingCosts: {},
  serviceHostingPrecedences: {},
  permissions: [],
  disabledAt: null,
  disabledUntil: null,
  envInfo: {},
  sdkInfo: {},
  enrolledById: null,
} as const
