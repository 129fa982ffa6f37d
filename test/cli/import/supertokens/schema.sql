-- The tables of SuperTokens that an import reads, with the names and types that github.com/supertokens/supertokens-postgresql-plugin
-- v9.5.5 (Apache License 2.0, Copyright VRAI Labs and/or its affiliates) gives their columns. Other tables, indexes and
-- most foreign keys are left out.
create table apps (app_id varchar(64) not null default 'public' primary key, created_at_time bigint);

create table tenants (
  app_id varchar(64) not null default 'public' references apps on delete cascade,
  tenant_id varchar(64) not null default 'public',
  created_at_time bigint,
  primary key (app_id, tenant_id)
);

create table app_id_to_user_id (
  app_id varchar(64) not null default 'public' references apps on delete cascade,
  user_id char(36) not null,
  recipe_id varchar(128) not null,
  primary_or_recipe_user_id char(36) not null,
  is_linked_or_is_a_primary_user boolean not null default false,
  time_joined bigint not null default 0,
  primary_or_recipe_user_time_joined bigint not null default 0,
  primary key (app_id, user_id),
  foreign key (app_id, primary_or_recipe_user_id) references app_id_to_user_id (app_id, user_id)
    on delete cascade on update cascade
);

create table all_auth_recipe_users (
  app_id varchar(64) default 'public',
  tenant_id varchar(64) default 'public',
  user_id char(36) not null,
  primary_or_recipe_user_id char(36) not null,
  is_linked_or_is_a_primary_user boolean not null default false,
  recipe_id varchar(128) not null,
  time_joined bigint not null,
  primary_or_recipe_user_time_joined bigint not null,
  primary key (app_id, tenant_id, user_id),
  foreign key (app_id, user_id) references app_id_to_user_id on delete cascade on update cascade
);

create table recipe_user_tenants (
  app_id varchar(64) not null,
  recipe_user_id char(36) not null,
  tenant_id varchar(64) not null,
  recipe_id varchar(128) not null,
  account_info_type varchar(8) not null,
  account_info_value text not null,
  third_party_id varchar(28),
  third_party_user_id varchar(256),
  primary key (app_id, tenant_id, recipe_id, account_info_type, third_party_id, third_party_user_id, account_info_value)
);

create table emailpassword_users (
  app_id varchar(64) default 'public',
  user_id char(36) not null,
  email varchar(256) not null,
  password_hash varchar(256) not null,
  time_joined bigint not null,
  primary key (app_id, user_id)
);

create table thirdparty_users (
  app_id varchar(64) default 'public',
  third_party_id varchar(28) not null,
  third_party_user_id varchar(256) not null,
  user_id char(36) not null,
  email varchar(256) not null,
  time_joined bigint not null,
  primary key (app_id, user_id)
);

create table passwordless_users (
  app_id varchar(64) default 'public',
  user_id char(36) not null,
  email varchar(256),
  phone_number varchar(256),
  time_joined bigint not null,
  primary key (app_id, user_id)
);

create table webauthn_users (
  app_id varchar(64) default 'public' not null,
  user_id char(36) not null,
  email varchar(256) not null,
  rp_id varchar(256) not null,
  time_joined bigint not null,
  primary key (app_id, user_id)
);

create table emailverification_verified_emails (
  app_id varchar(64) default 'public',
  user_id varchar(128) not null,
  email varchar(256) not null,
  primary key (app_id, user_id, email)
);

create table userid_mapping (
  app_id varchar(64) default 'public',
  supertokens_user_id char(36) not null,
  external_user_id varchar(128) not null,
  external_user_id_info text,
  unique (app_id, supertokens_user_id),
  unique (app_id, external_user_id),
  primary key (app_id, supertokens_user_id, external_user_id)
);

create table totp_users (
  app_id varchar(64) default 'public',
  user_id varchar(128) not null,
  primary key (app_id, user_id)
);

create table totp_user_devices (
  app_id varchar(64) default 'public',
  user_id varchar(128) not null,
  device_name varchar(256) not null,
  secret_key varchar(256) not null,
  period integer not null,
  skew integer not null,
  verified boolean not null,
  created_at bigint,
  primary key (app_id, user_id, device_name),
  foreign key (app_id, user_id) references totp_users on delete cascade
);

create table user_roles (
  app_id varchar(64) default 'public',
  tenant_id varchar(64) default 'public',
  user_id varchar(128) not null,
  role varchar(255) not null,
  primary key (app_id, tenant_id, user_id, role)
);

create table user_metadata (
  app_id varchar(64) default 'public',
  user_id varchar(128) not null,
  user_metadata text not null,
  primary key (app_id, user_id)
);
